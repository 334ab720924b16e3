import type {
  CancelOutcome,
  JobObservation,
  QueryOutcome,
  ReconcileOutcome,
  SubmitOutcome,
} from '../domain/provider/vocabulary';

/** Everything that is really sent, resolved and stored on the attempt before the call. */
export interface SubmitRequest {
  readonly attemptId: string;
  /** Derived from the attempt id; what the provider echoes where it can. */
  readonly requestKey: string;
  readonly model: string;
  readonly prompt: string;
  readonly negativePrompt: string | null;
  readonly seed: number;
  readonly aspectRatio: string;
  readonly resolution: string;
  readonly durationMs: number;
  readonly withAudio: boolean;
  /** A short-lived https (http on loopback in the embedded default) URL of the reference image. */
  readonly imageUrl: string | null;
  readonly callbackUrl: string;
  /** Vendor options that were agreed at create time, e.g. the sandbox's fault switches. */
  readonly options: Readonly<Record<string, unknown>>;
}

export interface ProviderAccount {
  readonly id: string;
  readonly baseUrl: string;
  /** Never logged, never stored with an attempt. */
  readonly apiKey: string;
  readonly webhookSecrets: readonly string[];
}

export interface AttemptFingerprint {
  readonly requestKey: string;
  /** As stored when the attempt was sent; carries the attempt's token. */
  readonly callbackUrl: string;
  /** When it was sent, at the latest. */
  readonly submittedAt: Date;
  /** When it was sent, at the earliest, where that is another instant. */
  readonly sentSince?: Date;
}

/** A job of the provider's list, whosever it is. */
export interface ListedJob {
  readonly observation: JobObservation;
  readonly createdAt: Date;
}

export type ListOutcome =
  | { readonly kind: 'LISTED'; readonly jobs: readonly ListedJob[] }
  | { readonly kind: 'UNAVAILABLE'; readonly retryAfterMs: number | null; readonly code: string };

export type CallbackVerdict =
  | {
      readonly ok: true;
      /** The provider's event id where it has one: the dedup key. */
      readonly sourceEventId: string | null;
      readonly observation: JobObservation;
    }
  | { readonly ok: false; readonly reason: 'BAD_SIGNATURE' | 'STALE_TIMESTAMP' | 'MALFORMED' };

/**
 * One provider behind one vocabulary.
 *
 * Contract, checked by test/contract/provider-gateway for every adapter:
 * - `submit` sends exactly one POST, whatever happens. It has separate limits for connecting, for
 *   TLS, for the response headers and for the whole. The outcome is typed by the transport's phase:
 *   a failure before any byte of the request was written is REJECTED(CONNECT_FAILED, retryable); a
 *   4xx, 500 or 503 is a verdict; 502, 504, no answer, a cut body, or a 2xx without a job id is
 *   UNKNOWN. It never throws for anything the network or the provider did.
 * - `query` and `cancel` may be repeated freely. An HTTP error on a query is UNAVAILABLE, never a verdict on the job.
 * - `query` tells the request key of the submit that made the job (`echoedRequestKey`). A job without it is nobody's of ours:
 *   no person can bind it to an attempt.
 * - `reconcile` decides an unknown submit: FOUND or ABSENT by the provider's own list, matched on what
 *   the provider echoes of ours; UNDECIDABLE where two candidates match or the list is not complete.
 * - `list` answers every job of the account made since an instant, newest first, or UNAVAILABLE: never a part of them.
 * - `verifyCallback` reads the raw body bytes, never a re-serialised form; compares in constant time; refuses
 *   a timestamp more than 300 s away from `now` in either direction; accepts any of the account's secrets
 *   (rotation).
 * - Digests are redacted and at most 2,000 characters; keys, tokens and signed URLs never appear in them.
 */
export interface ProviderGateway {
  submit(account: ProviderAccount, request: SubmitRequest): Promise<SubmitOutcome>;
  query(account: ProviderAccount, jobId: string): Promise<QueryOutcome>;
  cancel(account: ProviderAccount, jobId: string): Promise<CancelOutcome>;
  reconcile(account: ProviderAccount, attempt: AttemptFingerprint): Promise<ReconcileOutcome>;
  list(account: ProviderAccount, since: Date): Promise<ListOutcome>;
  verifyCallback(
    account: ProviderAccount,
    request: {
      readonly headers: Readonly<Record<string, string>>;
      readonly rawBody: Buffer;
      readonly now: Date;
    },
  ): CallbackVerdict;
}
