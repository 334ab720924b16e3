import type { JobObservation } from '../../domain/provider/vocabulary';

export interface ProviderEvent {
  readonly id: string;
  readonly providerId: string;
  readonly accountId: string;
  readonly source: 'callback' | 'polling' | 'reconcile' | 'submit';
  readonly sourceEventId: string;
  readonly jobId: string;
  readonly requestKey: string | null;
  readonly observation: JobObservation;
  readonly rawDigest: string;
  readonly receivedAt: Date;
  readonly attemptId: string | null;
  readonly matchedAt: Date | null;
  readonly outcome: string | null;
}

export interface ProviderEventStore {
  /** Stored before anything else. `DUPLICATE` counts the repeat on the first row. */
  insert(
    event: Omit<ProviderEvent, 'matchedAt' | 'attemptId' | 'outcome'>,
    expiresAt: Date,
  ): Promise<'CREATED' | 'DUPLICATE'>;
  /** Counts a callback that was refused; only when the attempt that its path names exists. */
  recordRefusal(refusal: {
    readonly providerId: string;
    readonly requestKey: string;
    readonly reason: string;
    readonly now: Date;
  }): Promise<void>;
  read(id: string): Promise<ProviderEvent | null>;
  lock(id: string): Promise<ProviderEvent | null>;
  markMatched(id: string, attemptId: string, outcome: string, now: Date): Promise<void>;
  /** Orphans of a job or request key that became known. */
  listOrphansOf(providerId: string, jobId: string, requestKey: string): Promise<ProviderEvent[]>;
  /** Orphans whose attempt exists by now. */
  listMatchableOrphans(limit: number): Promise<ProviderEvent[]>;
  countOrphans(): Promise<number>;
}
