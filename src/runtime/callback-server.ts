import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import {
  receiveCallback,
  refuseCallback,
  type CallbackOutcome,
} from '../flow/observe/receive-callback';
import { DatabaseUnavailableError } from '../ports/unit-of-work';
import type { Container } from './container';
import type { Running } from './run-worker';

const BODY_BYTES_MAX = 8 * 1024 * 1024 + 64 * 1024;
const BODY_TIME_LIMIT_MS = 15_000;
const ROUTE = /^\/callbacks\/([a-z0-9-]{1,40})\/([A-Za-z0-9._~-]{1,200})$/;

const statusOf = (outcome: CallbackOutcome): number => {
  switch (outcome.kind) {
    case 'STORED':
    case 'REPEATED':
      return 200;
    case 'UNKNOWN_PROVIDER':
      return 404;
    case 'REFUSED':
      // Signed, and yet no event that can be read: another signature would not help.
      return outcome.reason === 'MALFORMED' ? 400 : 401;
  }
};

/** What of a process the gateway needs. */
export type CallbackParts = Pick<Container, 'context' | 'gatewayOrNull' | 'accountsOf' | 'log'> & {
  readonly health: Pick<Container['health'], 'isDraining'>;
  readonly config: Pick<Container['config'], 'callback'>;
};

/**
 * The callback gateway: raw body in, verified and stored, 2xx out. No framework stands before it, because the signature is
 * over the bytes as they came. What cannot be stored is answered 503, so that the provider sends it again.
 */
export const startCallbackServer = async (
  container: CallbackParts,
): Promise<Running & { readonly port: number }> => {
  const server = createServer((request, response) => {
    if (container.health.isDraining()) response.setHeader('connection', 'close');
    handle(container, request, response).catch((error: unknown) => {
      const unavailable = error instanceof DatabaseUnavailableError;
      container.log[unavailable ? 'warn' : 'error']('a callback failed', { error: String(error) });
      if (!response.headersSent) answer(response, unavailable ? 503 : 500);
    });
  });
  server.requestTimeout = BODY_TIME_LIMIT_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(container.config.callback.port, container.config.callback.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
};

const handle = async (
  container: CallbackParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  if (request.method === 'GET' && request.url === '/healthz') {
    answer(response, 200);
    return;
  }
  const [, providerId, requestKey] = ROUTE.exec(request.url ?? '') ?? [];
  if (request.method !== 'POST' || providerId === undefined || requestKey === undefined) {
    answer(response, 404);
    return;
  }
  const rawBody = await readBody(request);
  if (rawBody === null) {
    container.log.warn('a callback was too large; polling covers it', { providerId });
    await refuseCallback(container.context, { providerId, requestKey, reason: 'TOO_LARGE' });
    answer(response, 413, true);
    return;
  }
  const outcome = await receiveCallback(
    container.context,
    { gatewayOf: container.gatewayOrNull, accountsOf: container.accountsOf },
    { providerId, requestKey, headers: plainHeaders(request), rawBody },
  );
  if (outcome.kind === 'REFUSED') {
    container.log.warn('a callback was refused', { providerId, reason: outcome.reason });
  }
  answer(response, statusOf(outcome));
};

const answer = (response: ServerResponse, status: number, close = false): void => {
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(close ? { connection: 'close' } : {}),
  });
  response.end('{}');
};

const readBody = async (request: IncomingMessage): Promise<Buffer | null> => {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > BODY_BYTES_MAX) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
};

const plainHeaders = (request: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(request.headers).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, Array.isArray(value) ? value.join(',') : value]],
    ),
  );
