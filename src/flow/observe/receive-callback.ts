import { crashpoint } from '../../ports/crash-points';
import type { ProviderAccount, ProviderGateway } from '../../ports/provider-gateway';
import type { FlowContext } from '../flow-context';
import { recordObservation } from './record-observation';

export interface CallbackDeps {
  readonly gatewayOf: (providerId: string) => ProviderGateway | null;
  readonly accountsOf: (providerId: string) => Promise<readonly ProviderAccount[]>;
}

export type CallbackOutcome =
  | { readonly kind: 'STORED' | 'REPEATED' }
  | { readonly kind: 'REFUSED'; readonly reason: string }
  | { readonly kind: 'UNKNOWN_PROVIDER' };

/**
 * Verifies a provider's callback over its raw bytes and stores it. Downloads nothing, judges nothing: the reducer does, once
 * for callbacks and polls alike. Any account of the provider may have signed.
 */
export const receiveCallback = async (
  context: FlowContext,
  deps: CallbackDeps,
  request: {
    readonly providerId: string;
    readonly requestKey: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly rawBody: Buffer;
  },
): Promise<CallbackOutcome> => {
  const gateway = deps.gatewayOf(request.providerId);
  if (gateway === null) return { kind: 'UNKNOWN_PROVIDER' };
  let reason = 'NO_ACCOUNT';
  for (const account of await deps.accountsOf(request.providerId)) {
    const verdict = gateway.verifyCallback(account, {
      headers: request.headers,
      rawBody: request.rawBody,
      now: context.clock.now(),
    });
    if (!verdict.ok) {
      // The account that did sign says more than all that did not.
      if (reason === 'NO_ACCOUNT' || verdict.reason !== 'BAD_SIGNATURE') reason = verdict.reason;
      continue;
    }
    crashpoint('callback.after_verify_before_db');
    const stored = await recordObservation(context, {
      providerId: request.providerId,
      accountId: account.id,
      source: 'callback',
      sourceEventId: verdict.sourceEventId,
      requestKey: request.requestKey,
      observation: verdict.observation,
    });
    crashpoint('callback.after_db_before_answer');
    return { kind: stored === 'CREATED' ? 'STORED' : 'REPEATED' };
  }
  await refuseCallback(context, { ...request, reason });
  return { kind: 'REFUSED', reason };
};

/** Counts a callback that nobody reads, for the timeline of the attempt whose key it carries; polls cover what it said. */
export const refuseCallback = (
  context: FlowContext,
  refused: {
    readonly providerId: string;
    readonly requestKey: string;
    readonly reason: string;
  },
): Promise<void> =>
  context.uow.stores.providerEvents.recordRefusal({
    providerId: refused.providerId,
    requestKey: refused.requestKey,
    reason: refused.reason,
    now: context.clock.now(),
  });
