/**
 * The words in which the product speaks of providers. Adapters translate each vendor's own words
 * into these; nothing outside `src/adapters/provider/<vendor>` knows a vendor's spelling.
 */

export const JOB_STATUSES = [
  'QUEUED',
  'RUNNING',
  'SUCCEEDED',
  'FAILED',
  'CANCELED',
  'UNRECOGNIZED',
] as const;
/** `UNRECOGNIZED`: a word nobody knows. It keeps the last state, is counted, and polling goes on. */
export type JobStatus = (typeof JOB_STATUSES)[number];

export const PROVIDER_FAILURES = [
  'INPUT_REJECTED',
  'POLICY_REJECTED',
  'PROVIDER_AUTH',
  'PROVIDER_FUNDS',
  'THROTTLED',
  'PROVIDER_UNAVAILABLE',
  'PROVIDER_INTERNAL',
  'CONNECT_FAILED',
  'NO_OUTPUT',
] as const;
/** Why a provider refused a submit or failed a job. */
export type ProviderFailure = (typeof PROVIDER_FAILURES)[number];

/** Where in the exchange a submit lost its answer. Only the phase decides, never an error's words. */
export type AmbiguousPhase =
  | 'AFTER_WRITE'
  | 'HEADERS_TIMEOUT'
  | 'BODY_CUT'
  | 'NO_JOB_ID'
  | 'GATEWAY_502'
  | 'GATEWAY_504'
  /** Not sent by us: the database was restored, and the same submit may have been sent in what it has forgotten. */
  | 'BEFORE_RESTORE';

export interface ProviderCharge {
  /** In the provider's own currency, as an exact decimal string. */
  readonly amount: string;
  readonly currency: string;
}

export interface ProviderOutput {
  readonly index: number;
  readonly url: string;
  readonly expiresAt: Date | null;
}

/** One thing a provider said about one job: by callback, by poll, in a list, or as a submit answer. */
export interface JobObservation {
  readonly jobId: string;
  readonly status: JobStatus;
  /** The vendor's own word, kept for the record. */
  readonly rawStatus: string;
  /** 0–100, display only; null where the provider does not say. */
  readonly progress: number | null;
  readonly providerUpdatedAt: Date | null;
  readonly failure: { readonly kind: ProviderFailure; readonly code: string } | null;
  readonly outputs: readonly ProviderOutput[];
  readonly charge: ProviderCharge | null;
  /** What we gave the provider to echo (the attempt's request key), where it comes back. */
  readonly echoedRequestKey: string | null;
}

export type SubmitOutcome =
  | { readonly kind: 'ACCEPTED'; readonly jobId: string; readonly digest: string }
  | {
      readonly kind: 'REJECTED';
      readonly failure: ProviderFailure;
      /** Whether the same task may be sent again later (to this or another provider). */
      readonly retryable: boolean;
      readonly retryAfterMs: number | null;
      readonly code: string;
      readonly charge: ProviderCharge | null;
      readonly digest: string;
    }
  | { readonly kind: 'UNKNOWN'; readonly phase: AmbiguousPhase; readonly digest: string };

export type QueryOutcome =
  | { readonly kind: 'FOUND'; readonly observation: JobObservation; readonly raw: unknown }
  | { readonly kind: 'NOT_FOUND' }
  | { readonly kind: 'UNAVAILABLE'; readonly retryAfterMs: number | null; readonly code: string };

export type CancelOutcome =
  | { readonly kind: 'CONFIRMED' }
  | { readonly kind: 'REQUESTED' }
  | { readonly kind: 'ALREADY_FINISHED' }
  | { readonly kind: 'UNSUPPORTED' }
  | { readonly kind: 'NOT_FOUND' }
  | { readonly kind: 'UNAVAILABLE'; readonly retryAfterMs: number | null; readonly code: string };

/** `ABSENT` only where the provider's own list is complete for the time of the submit. */
export type ReconcileOutcome =
  | { readonly kind: 'FOUND'; readonly observation: JobObservation; readonly raw: unknown }
  | { readonly kind: 'ABSENT' }
  | { readonly kind: 'UNDECIDABLE'; readonly reason: string }
  | { readonly kind: 'UNAVAILABLE'; readonly retryAfterMs: number | null; readonly code: string };
