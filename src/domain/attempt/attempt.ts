import type { ProviderOutput } from '../provider/vocabulary';
import type { AttemptStatus } from './statuses';

/** One submission to one provider account, with what was really sent. */
export interface Attempt {
  readonly id: string;
  readonly tenantId: string;
  readonly taskId: string;
  readonly attemptNo: number;
  readonly providerId: string;
  readonly accountId: string;
  readonly model: string;
  readonly requestKey: string;
  readonly jobId: string | null;
  readonly status: AttemptStatus;
  readonly version: number;
  readonly sent: SentFacts;
  readonly callbackUrl: string;
  readonly providerStatus: string | null;
  readonly progress: number;
  readonly providerUpdatedAt: Date | null;
  readonly outputs: readonly StoredOutput[] | null;
  readonly outputUrlExpiresAt: Date | null;
  /** What the fetcher was last about to show at a key of ours. */
  readonly rawWrite: RawWrite | null;
  readonly errorClass: string | null;
  readonly errorCode: string | null;
  readonly answerDigest: string | null;
  /** Exact decimal in `costCurrency`; null until the provider's charge is known. */
  readonly costAmount: string | null;
  readonly costCurrency: string | null;
  readonly leaseOwner: string | null;
  readonly leaseUntil: Date | null;
  readonly slotToken: bigint | null;
  readonly nextPollAt: Date | null;
  readonly pollTries: number;
  readonly pollErrors: number;
  readonly cancelStatus: AttemptCancelStatus | null;
  readonly cancelTries: number;
  readonly reconcileTries: number;
  /** Since when the provider's complete list has not shown the job; null while it was never absent. */
  readonly absentSince: Date | null;
  /** When the provider first said that it succeeded and showed no output: it is asked once more before that counts. */
  readonly emptySuccessAt: Date | null;
  readonly watchedUntil: Date | null;
  readonly sentAt: Date | null;
  readonly acceptedAt: Date | null;
  readonly completedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type AttemptCancelStatus = 'ASKED' | 'REQUESTED' | 'REFUSED' | 'UNSUPPORTED' | 'CONFIRMED';

/** Stored before the call. Recovery reads these, never today's configuration. */
export interface SentFacts {
  readonly endpoint: string;
  readonly prompt: string;
  readonly negativePrompt: string | null;
  readonly seed: number;
  readonly aspectRatio: string;
  readonly resolution: string;
  readonly durationMs: number;
  readonly withAudio: boolean;
  readonly imageAssetId: string | null;
  readonly imageSha256: string | null;
  readonly priceMicros: string;
  readonly costPerSecond: string;
  readonly costCurrency: string;
  readonly options: Readonly<Record<string, unknown>>;
}

/**
 * Noted when all bytes of an output have come and none stands at its key yet: what is found there later is this attempt's own
 * work if it is exactly that, and somebody else's if it is anything else.
 */
export interface RawWrite {
  readonly key: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** As kept in the row; URLs are secrets and never logged. */
export type StoredOutput = Omit<ProviderOutput, 'expiresAt'> & {
  readonly expiresAt: string | null;
};
