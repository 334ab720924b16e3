import type { NextFunction, Request, Response } from 'express';

/**
 * What every answer about objects says, so that pages of any origin may read and play them, and the answer to a page that asks before it does.
 * Whatever is served is a stranger's: `policy` says what of it may run where it opens by itself.
 */
export const allowBrowsers =
  (allowed: {
    readonly methods: string;
    readonly headers: string;
    readonly policy?: string;
  }): ((request: Request, response: Response, next: NextFunction) => void) =>
  (request, response, next) => {
    response.set({
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Expose-Headers': 'ETag, Content-Length, Content-Range, Accept-Ranges',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      ...(allowed.policy === undefined ? {} : { 'Content-Security-Policy': allowed.policy }),
    });
    if (request.method !== 'OPTIONS') {
      next();
      return;
    }
    response.set({
      'Access-Control-Allow-Methods': allowed.methods,
      'Access-Control-Allow-Headers': allowed.headers,
      'Access-Control-Max-Age': '86400',
    });
    response.status(204).end();
  };
