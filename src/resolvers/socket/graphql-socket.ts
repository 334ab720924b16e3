import type { Server } from 'node:http';

import {
  getOperationAST,
  GraphQLError,
  parse,
  specifiedRules,
  validate,
  type ExecutionArgs,
  type FormattedExecutionResult,
  type GraphQLFormattedError,
  type GraphQLSchema,
} from 'graphql';
import { CloseCode, type Context, type SubscribePayload } from 'graphql-ws';
import { useServer, type Extra } from 'graphql-ws/use/ws';
import { WebSocketServer, type WebSocket } from 'ws';

import type { Principal } from '../../ports/api-keys';
import { createApiContext, type ApiContext } from '../api-context';
import type { ApiDeps } from '../api-deps';
import { ApiError, isUnavailable, toPublicError } from '../errors';
import { BODY_BYTES_MAX } from '../http/json-body';
import { readBearer } from '../http/read-credentials';
import { isValueTooDeep, JSON_TOO_DEEP, refuseDeepPayload } from '../input-depth';
import type { LiveFeeds } from '../live/live-feeds';
import { judgeOperation, limitQueries, QUERY_LIMITS } from '../query-limits';
import { admitOperation } from '../rate-gate';

export const GRAPHQL_PATH = '/graphql';
const KEEP_ALIVE_MS = 15_000;
const OPERATIONS_MAX = 100;
/** The key was revoked or has expired; the client must not come back with it. */
const FORBIDDEN_CLOSE = CloseCode.Forbidden;
const TRY_LATER_CLOSE = 1013;

interface SocketExtra extends Record<PropertyKey, unknown> {
  principal?: Principal;
}
type SocketContext = Context<Record<string, unknown> | undefined, Extra & Partial<SocketExtra>>;

export interface GraphqlSocket {
  /** Sockets that are open and known. */
  readonly size: number;
  /** Tells every client to go away; resolves when all have closed or were cut. */
  close(): Promise<void>;
}

/** Operations over graphql-transport-ws at the same path as HTTP. */
export const openGraphqlSocket = (
  httpServer: Server,
  schema: GraphQLSchema,
  deps: ApiDeps,
  feeds: LiveFeeds,
): GraphqlSocket => {
  const webSockets = new WebSocketServer({
    server: httpServer,
    path: GRAPHQL_PATH,
    maxPayload: BODY_BYTES_MAX,
  });
  const watch = watchKeys(deps);
  const formatErrors = (errors: readonly GraphQLError[]): GraphQLFormattedError[] => {
    const { context, log } = deps;
    const requestId = context.ids.next(context.clock.now());
    return errors.map((error) => toPublicError(error.toJSON(), error, { requestId, log }));
  };
  const server = useServer<Record<string, unknown> | undefined, SocketExtra>(
    {
      isProd: true,
      onConnect: (socket) => connect(deps, socket, watch.add),
      onSubscribe: (socket, _id, payload) => prepare(schema, deps, feeds, socket, payload),
      onNext: (_socket, _id, _payload, _args, result): FormattedExecutionResult => {
        const { errors, ...rest } = result;
        const shown = errors === undefined ? rest : { ...rest, errors: formatErrors(errors) };
        return shown as FormattedExecutionResult;
      },
      onError: (_socket, _id, _payload, errors) => formatErrors(errors),
      onPing: dropDeepPing,
      onClose: (socket) => watch.drop(socket.extra.socket),
    },
    webSockets,
    KEEP_ALIVE_MS,
  );
  return {
    get size() {
      return watch.size();
    },
    close: async () => {
      watch.stop();
      await server.dispose();
    },
  };
};

const connect = async (
  deps: ApiDeps,
  socket: SocketContext,
  onKnown: (socket: WebSocket, principal: Principal) => void,
): Promise<boolean> => {
  if (isValueTooDeep(socket.connectionParams)) {
    socket.extra.socket.close(CloseCode.BadRequest, JSON_TOO_DEEP);
    return true;
  }
  const token = tokenOf(socket);
  if (token === null) return false;
  try {
    const principal = await deps.apiKeys.authenticate(token, deps.context.clock.now());
    if (principal === null) return false;
    socket.extra.principal = principal;
    onKnown(socket.extra.socket, principal);
    return true;
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    // Nobody can tell who this is: the client shall come back, which a 4403 would forbid.
    socket.extra.socket.close(TRY_LATER_CLOSE, 'Try again later');
    return true;
  }
};

/** A pong repeats the payload of its ping: one too deep to be written is emptied, and its sender sent away. */
const dropDeepPing = (
  { extra }: SocketContext,
  payload: Record<string, unknown> | undefined,
): void => {
  if (payload === undefined || !isValueTooDeep(payload)) return;
  for (const name of Object.keys(payload)) Reflect.deleteProperty(payload, name);
  extra.socket.close(CloseCode.BadRequest, JSON_TOO_DEEP);
};

/** `{ apiKey }`, or an Authorization header as a parameter or of the upgrade request. */
const tokenOf = ({ connectionParams, extra }: SocketContext): string | null => {
  const { apiKey, Authorization, authorization } = connectionParams ?? {};
  if (typeof apiKey === 'string') return apiKey;
  const header = [Authorization, authorization].find((each) => typeof each === 'string');
  return readBearer(header ?? extra.request.headers.authorization);
};

/** Parses and judges as over HTTP: every limit before execution. */
const prepare = async (
  schema: GraphQLSchema,
  deps: ApiDeps,
  feeds: LiveFeeds,
  socket: SocketContext,
  payload: SubscribePayload,
): Promise<ExecutionArgs | readonly GraphQLError[]> => {
  if (Object.keys(socket.subscriptions).length > OPERATIONS_MAX) {
    const message = `At most ${OPERATIONS_MAX} operations run on one socket.`;
    return [new ApiError('TOO_MANY_SUBSCRIPTIONS', message, { limit: OPERATIONS_MAX })];
  }
  const tooDeep = refuseDeepPayload(payload);
  if (tooDeep !== null) return [tooDeep];
  const { query, operationName, variables } = payload;
  try {
    const document = parse(query, { maxTokens: QUERY_LIMITS.tokens });
    const errors = validate(schema, document, [...specifiedRules, limitQueries]);
    if (errors.length > 0) return errors.map(asValidationError);
    if (getOperationAST(document, operationName) == null) {
      return [new ApiError('OPERATION_RESOLUTION_FAILURE', 'There is no such operation.')];
    }
    judgeOperation(schema, document, operationName, variables ?? {});
    const { principal } = socket.extra;
    if (principal !== undefined) await admitOperation(deps, principal, document, operationName);
    return {
      schema,
      document,
      operationName: operationName ?? null,
      variableValues: variables ?? {},
      contextValue: contextOf(deps, feeds, socket),
    };
  } catch (error) {
    if (error instanceof GraphQLError) return [error];
    throw error;
  }
};

const asValidationError = (error: GraphQLError): GraphQLError =>
  error instanceof ApiError
    ? error
    : new GraphQLError(error.message, {
        nodes: error.nodes ?? null,
        extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
      });

const contextOf = (deps: ApiDeps, feeds: LiveFeeds, socket: SocketContext): ApiContext =>
  createApiContext(deps, feeds, {
    requestId: deps.context.ids.next(deps.context.clock.now()),
    principal: socket.extra.principal ?? null,
    idempotencyKeyHeader: null,
  });

/** Asks in turns whether the keys of open sockets still live, and closes those of dead ones. */
const watchKeys = (deps: ApiDeps) => {
  const open = new Map<WebSocket, Principal>();
  const check = async (): Promise<void> => {
    if (open.size === 0) return;
    const keyIds = [...new Set([...open.values()].map(({ keyId }) => keyId))];
    const live = await deps.apiKeys.filterLive(keyIds, deps.context.clock.now());
    for (const [socket, { keyId }] of open) {
      if (live.has(keyId)) continue;
      open.delete(socket);
      socket.close(FORBIDDEN_CLOSE, 'Forbidden');
    }
  };
  let checking = false;
  const timer = setInterval(() => {
    if (checking) return;
    checking = true;
    check()
      .catch((error: unknown) => {
        deps.log.warn('keys of open sockets cannot be checked', { error: String(error) });
      })
      .finally(() => (checking = false));
  }, deps.revocationCheckMs);
  timer.unref();
  return {
    size: () => open.size,
    add: (socket: WebSocket, principal: Principal): void => void open.set(socket, principal),
    drop: (socket: WebSocket): void => void open.delete(socket),
    stop: (): void => clearInterval(timer),
  };
};
