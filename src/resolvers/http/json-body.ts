import express, { type ErrorRequestHandler, type RequestHandler } from 'express';

import type { Log } from '../../ports/log';
import { ERROR_RULES, type ErrorCode } from '../errors';
import { currentRequestId } from './request-scope';

export const BODY_BYTES_MAX = 256 * 1024;

/** Reads JSON bodies; the GraphQL server itself refuses other types. */
export const createBodyParser = (): RequestHandler[] => [
  express.json({ limit: BODY_BYTES_MAX, type: ['application/json', 'application/graphql+json'] }),
  (request, _response, next) => {
    // The GraphQL server tells what is wrong with a request without a body; it only needs the property.
    request.body ??= {};
    next();
  },
];

const CODES: Readonly<Record<string, { readonly code: ErrorCode; readonly message: string }>> = {
  'entity.too.large': {
    code: 'PAYLOAD_TOO_LARGE',
    message: `A request has at most ${BODY_BYTES_MAX} bytes. Upload files with assetUploadCreate.`,
  },
  'entity.parse.failed': { code: 'BAD_JSON', message: 'The body is not valid JSON.' },
  'encoding.unsupported': {
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: 'Send the body plain, or with gzip, deflate or br.',
  },
  'charset.unsupported': { code: 'UNSUPPORTED_MEDIA_TYPE', message: 'Send the body as UTF-8.' },
  'request.size.invalid': {
    code: 'BAD_REQUEST',
    message: 'The body is not as long as its header says.',
  },
  'request.aborted': { code: 'BAD_REQUEST', message: 'The body ended early.' },
};

/** What failed before there was a GraphQL request answers in GraphQL's shape all the same. */
export const createErrorAnswer =
  (log: Log): ErrorRequestHandler =>
  (error: unknown, _request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    const requestId = currentRequestId();
    const { type, status } = error as { type?: unknown; status?: unknown };
    const known = typeof type === 'string' ? CODES[type] : undefined;
    if (known === undefined && !(typeof status === 'number' && status < 500)) {
      log.error('request failed', { requestId, error });
    }
    const { code, message } = known ?? fallbackOf(status);
    const { httpStatus, retryable } = ERROR_RULES[code];
    response.status(httpStatus).json({
      errors: [{ message, extensions: { code, retryable, requestId } }],
    });
  };

const fallbackOf = (status: unknown): { readonly code: ErrorCode; readonly message: string } =>
  typeof status === 'number' && status >= 400 && status < 500
    ? { code: 'BAD_REQUEST', message: 'The request cannot be read.' }
    : {
        code: 'INTERNAL',
        message: 'Something broke on our side; give the request id to support.',
      };
