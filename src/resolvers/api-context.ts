import { scheduleHorizon } from '../flow/schedule/run-scheduler';
import type { ApiScope, Principal } from '../ports/api-keys';
import type { RateVerdict } from '../ports/rate-limits';
import type { ApiDeps } from './api-deps';
import { ApiError } from './errors';
import type { LiveFeeds } from './live/live-feeds';
import { createLoaders, type Loaders } from './loaders';

/** What every resolver of one operation shares. */
export interface ApiContext {
  readonly deps: ApiDeps;
  readonly feeds: LiveFeeds;
  readonly requestId: string;
  readonly principal: Principal | null;
  /** Of the HTTP request; null on a socket. */
  readonly idempotencyKeyHeader: string | null;
  /** Renewed for each event of a subscription: what was loaded for the one before is stale. */
  loaders: Loaders;
  /** What the HTTP answer says beside its body. */
  readonly answer: { accepted: boolean; replayed: boolean; rates: readonly RateVerdict[] };
}

export const createApiContext = (
  deps: ApiDeps,
  feeds: LiveFeeds,
  request: Pick<ApiContext, 'requestId' | 'principal' | 'idempotencyKeyHeader'>,
): ApiContext => ({
  deps,
  feeds,
  ...request,
  loaders: freshLoaders(deps),
  answer: { accepted: false, replayed: false, rates: [] },
});

export const freshLoaders = ({ reads, context }: ApiDeps): Loaders =>
  createLoaders(
    reads,
    () => scheduleHorizon(context),
    (tenantId) => context.uow.stores.money.readBalance(tenantId),
  );

/** The caller, in a resolver behind `@Authorized`. */
export const callerOf = (context: ApiContext): Principal => {
  if (context.principal === null) throw unauthenticated();
  return context.principal;
};

export const unauthenticated = (): ApiError =>
  new ApiError(
    'UNAUTHENTICATED',
    'Send a valid API key: `Authorization: Bearer avk_…`, or `apiKey` in connection_init.',
  );

/** For `@Authorized(...scopes)`: any one of the scopes is enough; without a list any key is. */
export const checkAuthorization = (
  { context }: { readonly context: ApiContext },
  scopes: readonly ApiScope[],
): boolean => {
  const caller = callerOf(context);
  if (scopes.length === 0 || scopes.some((scope) => caller.scopes.includes(scope))) return true;
  throw new ApiError('FORBIDDEN', `This API key lacks the scope ${scopes.join(' or ')}.`, {
    scopes,
  });
};
