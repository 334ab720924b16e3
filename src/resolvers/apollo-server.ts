import {
  ApolloServer,
  type ApolloServerPlugin,
  type GraphQLResponse,
  type GraphQLServerContext,
} from '@apollo/server';
import { ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled';
import type { GraphQLSchema } from 'graphql';

import type { Log } from '../ports/log';
import type { ApiContext } from './api-context';
import type { ApiDeps } from './api-deps';
import { ERROR_RULES, isUnavailable, RETRY_AFTER_S, toPublicError, type ErrorCode } from './errors';
import { currentRequestId } from './http/request-scope';
import { createMeterPlugin } from './http/meter-plugin';
import { admitOperation, rateHeaders } from './rate-gate';
import { judgeOperation, limitQueries, QUERY_LIMITS } from './query-limits';

/** Apollo over the schema, with every limit before execution and every error mapped at this edge. */
export const createApollo = (
  schema: GraphQLSchema,
  options: { readonly log: Log; readonly production: boolean } & Pick<ApiDeps, 'metrics'>,
): ApolloServer<ApiContext> =>
  new ApolloServer<ApiContext>({
    schema,
    validationRules: [limitQueries],
    parseOptions: { maxTokens: QUERY_LIMITS.tokens },
    formatError: (formatted, error) =>
      toPublicError(formatted, error, { requestId: currentRequestId() ?? '', log: options.log }),
    // The contract is public: it is committed, and the playground shows it before there is a key.
    introspection: true,
    hideSchemaDetailsFromClientErrors: options.production,
    includeStacktraceInErrorResponses: false,
    allowBatchedHttpRequests: false,
    csrfPrevention: true,
    stopOnTerminationSignals: false,
    logger: toApolloLogger(options.log),
    plugins: [
      ApolloServerPluginLandingPageDisabled(),
      answerPlugin,
      createMeterPlugin(options.metrics),
    ],
  });

const answerPlugin: ApolloServerPlugin<ApiContext> = {
  requestDidStart: () =>
    Promise.resolve({
      didResolveOperation: async ({ schema, document, request, contextValue }) => {
        judgeOperation(schema, document, request.operationName, request.variables ?? {});
        const { deps, principal, answer } = contextValue;
        if (principal === null) return;
        answer.rates = await admitOperation(deps, principal, document, request.operationName);
      },
      willSendResponse: ({ response, contextValue, errors }) => {
        const { http } = response;
        const { accepted, replayed, rates } = contextValue.answer;
        for (const [name, value] of rateHeaders(rates)) http.headers.set(name, value);
        if (replayed) http.headers.set('idempotent-replayed', 'true');
        if (errors?.some(isUnavailable) === true) {
          http.status = ERROR_RULES.SERVICE_UNAVAILABLE.httpStatus;
          http.headers.set('retry-after', String(RETRY_AFTER_S));
        } else if (isLost(response.body)) {
          http.status = ERROR_RULES.INTERNAL.httpStatus;
        } else if (accepted && errors === undefined) {
          http.status = 202;
        }
        return Promise.resolve();
      },
    }),
};

/** An internal fault that left no data at all. */
const isLost = (body: GraphQLResponse['body']): boolean =>
  body.kind === 'single' &&
  body.singleResult.data == null &&
  body.singleResult.errors?.some(
    ({ extensions }) => (extensions?.['code'] as ErrorCode | undefined) === 'INTERNAL',
  ) === true;

const toApolloLogger = (log: Log): NonNullable<GraphQLServerContext['logger']> => ({
  debug: (message) => log.debug(String(message)),
  info: (message) => log.info(String(message)),
  warn: (message) => log.warn(String(message)),
  error: (message) => log.error(String(message)),
});
