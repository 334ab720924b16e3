import type { Attempt, RawWrite, SentFacts } from '../../domain/attempt/attempt';
import type { AttemptStatus } from '../../domain/attempt/statuses';

export interface NewAttempt {
  readonly id: string;
  readonly tenantId: string;
  readonly taskId: string;
  readonly attemptNo: number;
  readonly providerId: string;
  readonly accountId: string;
  readonly model: string;
  readonly requestKey: string;
  readonly callbackUrl: string;
  readonly sent: SentFacts;
  readonly slotToken: bigint | null;
}

export type AttemptPatch = Partial<
  Pick<
    Attempt,
    | 'jobId'
    | 'providerStatus'
    | 'progress'
    | 'providerUpdatedAt'
    | 'outputs'
    | 'outputUrlExpiresAt'
    | 'errorClass'
    | 'errorCode'
    | 'answerDigest'
    | 'costAmount'
    | 'costCurrency'
    | 'leaseOwner'
    | 'leaseUntil'
    | 'slotToken'
    | 'nextPollAt'
    | 'pollTries'
    | 'pollErrors'
    | 'cancelStatus'
    | 'cancelTries'
    | 'reconcileTries'
    | 'absentSince'
    | 'watchedUntil'
    | 'sentAt'
    | 'acceptedAt'
    | 'completedAt'
    | 'emptySuccessAt'
  >
>;

export interface AttemptStore {
  /** `EXISTS` when (task, attempt_no) is taken: read the existing one. */
  insert(attempt: NewAttempt, now: Date): Promise<'CREATED' | 'EXISTS'>;
  read(attemptId: string): Promise<Attempt | null>;
  /** Locks the row; the task's lock must be held already. */
  lock(attemptId: string): Promise<Attempt | null>;
  findByRequestKey(providerId: string, requestKey: string): Promise<Attempt | null>;
  findByJob(providerId: string, jobId: string): Promise<Attempt | null>;
  listOfTask(taskId: string): Promise<Attempt[]>;
  /** Guarded by the version read; throws `StaleWriteError` when the row moved meanwhile. */
  patch(
    attempt: Attempt,
    to: AttemptStatus | null,
    patch: AttemptPatch,
    now: Date,
  ): Promise<Attempt>;
  /** Makes the hold on an attempt's step last until then at least. */
  hold(attemptId: string, until: Date, now: Date): Promise<void>;
  /** Notes what is about to be shown at a raw key; a later note takes the place of an earlier one. */
  noteRawWrite(attemptId: string, write: RawWrite, now: Date): Promise<void>;
  /** Claims attempts that are due for a poll by pushing their next poll to `until`; at most `limit`. */
  claimDuePolls(now: Date, until: Date, limit: number): Promise<Attempt[]>;
  /** Earliest due poll; null when none waits. */
  nextPollDueAt(): Promise<Date | null>;
  /** NEW or SENDING attempts whose lease (or age, when never leased) is over. */
  listLeaseLost(now: Date, unleasedBefore: Date, limit: number): Promise<Attempt[]>;
  /** UNKNOWN attempts: to be reconciled. */
  listUnknown(limit: number): Promise<Attempt[]>;
  /** Notes that its cost was brought to the books; once. */
  markCostBooked(attemptId: string, now: Date): Promise<void>;
  /** How long the latest submits of an account that had a job kept their place, on average; null while none has ended. */
  meanHeldMs(accountId: string): Promise<number | null>;
  /** Every attempt that should hold a slot, for the rebuild. */
  listSlotHolders(): Promise<Attempt[]>;
  /** Those of the given ones that have ended. */
  listEndedAmong(attemptIds: readonly string[]): Promise<string[]>;
}

export class StaleWriteError extends Error {
  readonly code = 'STALE_WRITE';
}
