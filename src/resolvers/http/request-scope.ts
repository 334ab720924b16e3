import { AsyncLocalStorage } from 'node:async_hooks';

import type { NextFunction, Request, Response } from 'express';

import type { Clock } from '../../ports/clock';
import type { IdSource } from '../../ports/ids';

const scopes = new AsyncLocalStorage<{ readonly requestId: string }>();

/** The id of the HTTP request that is being answered; of none, as on a socket, null. */
export const currentRequestId = (): string | null => scopes.getStore()?.requestId ?? null;

/** Gives each request an id of ours; it is in the answer's header, in every error, in the log and in the trace. */
export const createRequestScope =
  (ids: IdSource, clock: Clock) =>
  (_request: Request, response: Response, next: NextFunction): void => {
    const requestId = ids.next(clock.now());
    response.setHeader('X-Request-Id', requestId);
    scopes.run({ requestId }, next);
  };
