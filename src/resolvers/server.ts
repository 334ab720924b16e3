import { createServer, type Server } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { AddressInfo } from 'node:net';

import type { ApolloServer } from '@apollo/server';
import { expressMiddleware } from '@as-integrations/express5';
import express, { type Express, type Request } from 'express';
import helmet from 'helmet';

import type { Principal } from '../ports/api-keys';
import { createApiContext, unauthenticated, type ApiContext } from './api-context';
import type { ApiDeps } from './api-deps';
import { createApollo } from './apollo-server';
import { isUnavailable, unavailable } from './errors';
import { createHealthRoutes } from './http/health-routes';
import { createBodyParser, createErrorAnswer } from './http/json-body';
import { readBearer, readIdempotencyKey } from './http/read-credentials';
import { createRequestScope, currentRequestId } from './http/request-scope';
import { createLiveFeeds, type LiveFeeds } from './live/live-feeds';
import { createPlaygroundRoutes } from './playground/playground-routes';
import { admitStranger } from './rate-gate';
import { buildApiSchema } from './schema';
import { GRAPHQL_PATH, openGraphqlSocket } from './socket/graphql-socket';

const LOOK_MS = 3_000;
const UPLOAD_TIME_LIMIT_MS = 3_600_000;

export interface ApiServer {
  readonly httpServer: Server;
  /** What is followed for subscribers now. */
  readonly feeds: Pick<LiveFeeds, 'counts'>;
  /** Answers the port, also where 0 let the system choose. */
  listen(port: number, host: string): Promise<number>;
  /**
   * Is not ready any more, and for `unreadyMs` answers all the same, closing each connection behind its answer, so that whoever
   * spreads the load sees it and goes elsewhere. Then it takes nothing new, and lets what runs finish for at most `drainMs`.
   * Whoever asks again waits for the same end.
   */
  close(drainMs: number, unreadyMs?: number): Promise<void>;
}

/** The public API over HTTP and WebSocket. Nothing listens before `listen`. */
export const createApiServer = async (deps: ApiDeps): Promise<ApiServer> => {
  const schema = await buildApiSchema();
  const feeds = createLiveFeeds({
    reads: deps.reads,
    pubSub: deps.pubSub,
    log: deps.log,
    lookMs: deps.liveReadMs ?? LOOK_MS,
  });
  const apollo = createApollo(schema, deps);
  await apollo.start();
  const httpServer = createServer(createApp(deps, apollo, feeds));
  // An upload of many minutes is no attack; a body that stands still is cut by the object routes.
  httpServer.requestTimeout = UPLOAD_TIME_LIMIT_MS;
  const socket = openGraphqlSocket(httpServer, schema, deps, feeds);
  const closeOnce = async (drainMs: number, unreadyMs: number): Promise<void> => {
    deps.health.drain();
    if (unreadyMs > 0) await wait(unreadyMs);
    await socket.close();
    await feeds.close();
    await closeHttp(httpServer, drainMs);
    await apollo.stop();
  };
  let closing: Promise<void> | null = null;
  return {
    httpServer,
    feeds,
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        httpServer.once('error', reject);
        httpServer.listen(port, host, () => {
          httpServer.off('error', reject);
          resolve((httpServer.address() as AddressInfo).port);
        });
      }),
    close: (drainMs, unreadyMs = 0) => (closing ??= closeOnce(drainMs, unreadyMs)),
  };
};

const closeHttp = async (httpServer: Server, drainMs: number): Promise<void> => {
  if (!httpServer.listening) return;
  const cut = setTimeout(() => httpServer.closeAllConnections(), drainMs);
  await new Promise<void>((resolve, reject) => {
    httpServer.close((error) => (error === undefined ? resolve() : reject(error)));
    httpServer.closeIdleConnections();
  });
  clearTimeout(cut);
};

const createApp = (deps: ApiDeps, apollo: ApolloServer<ApiContext>, feeds: LiveFeeds): Express => {
  const app = express();
  app.disable('x-powered-by');
  if (deps.trustedProxies !== null) app.set('trust proxy', deps.trustedProxies);
  app.use(createRequestScope(deps.context.ids, deps.context.clock, deps.tracing));
  app.use(helmet({ contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } } }));
  app.use((_request, response, next) => {
    // A connection kept alive would go on bringing requests to a process that ends.
    if (deps.health.isDraining()) response.setHeader('connection', 'close');
    next();
  });
  app.use(createHealthRoutes(deps));
  if (deps.objectRoutes !== null) app.use('/objects', deps.objectRoutes);
  app.use(createPlaygroundRoutes());
  app.use(
    GRAPHQL_PATH,
    createBodyParser((request) => isOperator(deps, request)),
    expressMiddleware(apollo, { context: ({ req }) => authenticate(deps, feeds, req) }),
  );
  app.use((_request, response) => {
    response.status(404).json({ errors: [{ message: 'There is nothing here.' }] });
  });
  app.use(createErrorAnswer(deps.log));
  return app;
};

/** Without a key the schema can be read and nothing else; a wrong key is an error even then. */
const authenticate = async (
  deps: ApiDeps,
  feeds: LiveFeeds,
  request: Request,
): Promise<ApiContext> => {
  const address = request.ip ?? '';
  const token = readBearer(request.headers.authorization);
  const principal = token === null ? null : await principalOf(deps, token, address);
  const context = createApiContext(deps, feeds, {
    requestId: currentRequestId() ?? '',
    principal,
    idempotencyKeyHeader: readIdempotencyKey(request.headers['idempotency-key']),
  });
  if (principal === null) context.answer.rates = await admitStranger(deps, address);
  return context;
};

/** Whoever cannot be told is none: the request is refused for its size then, and later for its key. */
const isOperator = async ({ apiKeys, context }: ApiDeps, request: Request): Promise<boolean> => {
  const token = readBearer(request.headers.authorization);
  if (token === null) return false;
  try {
    const principal = await apiKeys.authenticate(token, context.clock.now());
    return principal?.scopes.includes('operator') ?? false;
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return false;
  }
};

const principalOf = async (deps: ApiDeps, token: string, address: string): Promise<Principal> => {
  let principal: Principal | null;
  try {
    principal = await deps.apiKeys.authenticate(token, deps.context.clock.now());
  } catch (error) {
    throw isUnavailable(error) ? unavailable() : error;
  }
  if (principal !== null) return principal;
  // Who guesses keys is soon told to wait instead.
  await admitStranger(deps, address);
  throw unauthenticated();
};
