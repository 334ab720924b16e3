import type { ProviderFailureCode } from '../generation/failures';
import type { ProviderFailure } from './vocabulary';

export interface FailurePolicy {
  /** Another attempt of the same task may help (within budget, quote and deadline). */
  readonly mayRetry: boolean;
  /** Counts towards opening the account's circuit for submits. */
  readonly tripsCircuit: boolean;
  /** What the user is told; stable and public. */
  readonly publicCode: ProviderFailureCode;
}

/** One table: what went wrong at a provider → what the platform does about it. */
export const FAILURE_POLICIES = {
  INPUT_REJECTED: { mayRetry: false, tripsCircuit: false, publicCode: 'PROVIDER_REJECTED_INPUT' },
  POLICY_REJECTED: { mayRetry: false, tripsCircuit: false, publicCode: 'MODERATION_REJECTED' },
  PROVIDER_AUTH: { mayRetry: true, tripsCircuit: true, publicCode: 'PROVIDER_UNAVAILABLE' },
  PROVIDER_FUNDS: { mayRetry: true, tripsCircuit: true, publicCode: 'PROVIDER_UNAVAILABLE' },
  THROTTLED: { mayRetry: true, tripsCircuit: false, publicCode: 'PROVIDER_BUSY' },
  PROVIDER_UNAVAILABLE: { mayRetry: true, tripsCircuit: true, publicCode: 'PROVIDER_UNAVAILABLE' },
  PROVIDER_INTERNAL: { mayRetry: true, tripsCircuit: false, publicCode: 'PROVIDER_FAILED' },
  CONNECT_FAILED: { mayRetry: true, tripsCircuit: true, publicCode: 'PROVIDER_UNAVAILABLE' },
  NO_OUTPUT: { mayRetry: true, tripsCircuit: false, publicCode: 'PROVIDER_NO_OUTPUT' },
} as const satisfies Record<ProviderFailure, FailurePolicy>;
