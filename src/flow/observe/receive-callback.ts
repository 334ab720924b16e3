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
      reason = verdict.reason;
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
  await context.uow.stores.providerEvents.recordRefusal({
    providerId: request.providerId,
    requestKey: request.requestKey,
    reason,
    now: context.clock.now(),
  });
  return { kind: 'REFUSED', reason };
};
