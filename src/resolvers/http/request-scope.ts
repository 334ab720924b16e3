import { AsyncLocalStorage } from 'node:async_hooks';

import type { NextFunction, Request, Response } from 'express';

import type { Clock } from '../../ports/clock';
import type { IdSource } from '../../ports/ids';
import type { Tracing } from '../../ports/tracing';

const scopes = new AsyncLocalStorage<{ readonly requestId: string }>();

/** The id of the HTTP request that is being answered; of none, as on a socket, null. */
export const currentRequestId = (): string | null => scopes.getStore()?.requestId ?? null;

/** Asked many times a minute, and never of interest. */
const PROBES = ['healthz', 'readyz', 'metrics'];
const TRACED = ['graphql', 'objects'];

/** Gives each request an id of ours; it is in the answer's header, in every error, in the log and in the trace. */
export const createRequestScope =
  (ids: IdSource, clock: Clock, tracing: Pick<Tracing, 'span'>) =>
  (request: Request, response: Response, next: NextFunction): void => {
    const requestId = ids.next(clock.now());
    response.setHeader('X-Request-Id', requestId);
    const [, place = ''] = request.path.split('/');
    if (PROBES.includes(place)) {
      scopes.run({ requestId }, next);
      return;
    }
    const name = `${request.method} /${TRACED.includes(place) ? place : ''}`;
    void tracing.span({ name, kind: 'SERVER', traceId: requestId }, async () => {
      const ended = new Promise((resolve) => response.once('close', resolve));
      scopes.run({ requestId }, next);
      await ended;
    });
  };
