import type { OutputFailureCode, ProviderFailureCode } from '../generation/failures';
import type { ProviderFailure } from './vocabulary';

/** How likely another try is paid for twice. */
export type DoubleCostRisk = 'NONE' | 'VERY_LOW' | 'LOW';

export interface FailurePolicy {
  /** Another attempt of the same task may help (within budget, quote and deadline). */
  readonly mayRetry: boolean;
  /** Counts towards opening the account's circuit for submits. */
  readonly tripsCircuit: boolean;
  /** The account takes fewer jobs for a while: its provider said that it has too many. */
  readonly shrinksLimit: boolean;
  readonly doubleCost: DoubleCostRisk;
  /** What the user is told; stable and public. */
  readonly publicCode: ProviderFailureCode;
}

const FINAL = { mayRetry: false, tripsCircuit: false, shrinksLimit: false } as const;
const AGAIN = { mayRetry: true, tripsCircuit: false, shrinksLimit: false } as const;
const TRIPS = { mayRetry: true, tripsCircuit: true, shrinksLimit: false } as const;

/** One table: what went wrong at a provider → what the platform does about it. */
export const FAILURE_POLICIES = {
  INPUT_REJECTED: { ...FINAL, doubleCost: 'NONE', publicCode: 'PROVIDER_REJECTED_INPUT' },
  POLICY_REJECTED: { ...FINAL, doubleCost: 'NONE', publicCode: 'MODERATION_REJECTED' },
  PROVIDER_AUTH: { ...TRIPS, doubleCost: 'NONE', publicCode: 'PROVIDER_UNAVAILABLE' },
  PROVIDER_FUNDS: { ...TRIPS, doubleCost: 'NONE', publicCode: 'PROVIDER_UNAVAILABLE' },
  THROTTLED: { ...AGAIN, shrinksLimit: true, doubleCost: 'LOW', publicCode: 'PROVIDER_BUSY' },
  PROVIDER_UNAVAILABLE: { ...TRIPS, doubleCost: 'LOW', publicCode: 'PROVIDER_UNAVAILABLE' },
  PROVIDER_INTERNAL: { ...AGAIN, doubleCost: 'LOW', publicCode: 'PROVIDER_FAILED' },
  CONNECT_FAILED: { ...TRIPS, doubleCost: 'VERY_LOW', publicCode: 'PROVIDER_UNAVAILABLE' },
  NO_OUTPUT: { ...AGAIN, doubleCost: 'LOW', publicCode: 'PROVIDER_NO_OUTPUT' },
} as const satisfies Record<ProviderFailure, FailurePolicy>;

/**
 * What went wrong while an output was fetched → what is done: AGAIN within the budget of the step (cut transfers go on by
 * Range), GIVE_UP at once, or a PERSON. A URL that was refused is renewed at the provider before it counts as GONE.
 */
export const OUTPUT_POLICIES = {
  OUTPUT_URL_UNAVAILABLE: 'AGAIN',
  OUTPUT_UNAVAILABLE: 'AGAIN',
  OUTPUT_INTERRUPTED: 'AGAIN',
  OUTPUT_GONE: 'GIVE_UP',
  OUTPUT_TOO_LARGE: 'GIVE_UP',
  OUTPUT_RETENTION_OVER: 'GIVE_UP',
  OUTPUT_URL_INVALID: 'GIVE_UP',
  OUTPUT_SCHEME_NOT_ALLOWED: 'GIVE_UP',
  OUTPUT_CREDENTIALS_IN_URL: 'GIVE_UP',
  OUTPUT_HOST_NOT_ALLOWED: 'GIVE_UP',
  OUTPUT_ADDRESS_NOT_ALLOWED: 'GIVE_UP',
  OUTPUT_TOO_MANY_REDIRECTS: 'GIVE_UP',
  OUTPUT_ENCODED_CONTENT: 'GIVE_UP',
  OBJECT_CONFLICT: 'PERSON',
} as const satisfies Record<OutputFailureCode, 'AGAIN' | 'GIVE_UP' | 'PERSON'>;
