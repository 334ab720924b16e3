import type { FindingKind } from '../../domain/generation/decision';

export type FindingSubject =
  | 'task'
  | 'attempt'
  | 'asset'
  | 'object'
  | 'provider_event'
  | 'slot'
  | 'tenant'
  | 'outbox'
  | 'invoice_item'
  | 'provider_job';

export interface FindingStore {
  /** One row per business key; a repeat refreshes `last_seen_at`. */
  record(finding: {
    readonly id: string;
    readonly kind: FindingKind;
    readonly subjectKind: FindingSubject;
    readonly subjectId: string;
    readonly tenantId: string | null;
    readonly detail: Readonly<Record<string, unknown>>;
    readonly actionTaken: string | null;
    readonly now: Date;
  }): Promise<void>;
  lock(findingId: string): Promise<Finding | null>;
  /** False: it was resolved before, and nothing changed. One that is seen again is open again. */
  resolve(findingId: string, by: string, resolution: string, now: Date): Promise<boolean>;
  /** Resolves what is open of a kind on a subject; answers how many. */
  resolveOf(
    kind: FindingKind,
    subjectIds: readonly string[],
    by: string,
    resolution: string,
    now: Date,
  ): Promise<number>;
}

export interface Finding {
  readonly id: string;
  readonly kind: FindingKind;
  readonly subjectKind: FindingSubject;
  readonly subjectId: string;
  readonly tenantId: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
  /** What the product did about it by itself; null: nothing. */
  readonly actionTaken: string | null;
  readonly firstSeenAt: Date;
  readonly lastSeenAt: Date;
  readonly resolvedAt: Date | null;
  readonly resolvedBy: string | null;
  readonly resolution: string | null;
}

export interface ModerationStore {
  record(decision: {
    readonly id: string;
    readonly tenantId: string;
    readonly subjectKind: 'PROMPT' | 'ASSET' | 'OUTPUT';
    readonly subjectId: string;
    readonly verdict: 'APPROVE' | 'REJECT' | 'REVIEW';
    readonly reasonCode: string | null;
    readonly rulesVersion: string;
    readonly decidedBy: string;
    readonly now: Date;
  }): Promise<void>;
}

export interface AuditStore {
  record(entry: {
    readonly id: string;
    readonly tenantId: string | null;
    readonly actor: string;
    readonly action: string;
    readonly subjectKind: string;
    readonly subjectId: string;
    readonly reason: string | null;
    readonly before: Readonly<Record<string, unknown>> | null;
    readonly after: Readonly<Record<string, unknown>> | null;
    readonly now: Date;
  }): Promise<void>;
  /** Whether an action was ever accepted for the subject; refused ones do not count. */
  wasDone(subjectKind: string, subjectId: string, actions: readonly string[]): Promise<boolean>;
}

/**
 * The lives of the database itself. A restored copy, and a standby that took over, lacks what was committed last elsewhere: jobs may
 * exist of generations that stand here as waiting.
 */
export interface DatabaseLifeStore {
  /** When this database was last restored or taken over, as far as the server or a person has told; null: never. Notices by itself. */
  restoredAt(now: Date): Promise<Date | null>;
  /** Says that it was restored just now. */
  declareRestored(declaredBy: string, now: Date): Promise<void>;
}

export interface PartitionStore {
  ensureDays(now: Date, days: number): Promise<number>;
  dropBefore(before: Date): Promise<number>;
}

/**
 * One row for each life of a worker process. A lease names the life that took it; when a node starts a worker again under
 * its old name, leases of the earlier life need not run out: they are known to be dead.
 */
export interface InstanceStore {
  /** Answers how many earlier lives of this worker on this node are over by that. */
  begin(instance: {
    readonly bootId: string;
    readonly worker: string;
    readonly node: string;
    readonly now: Date;
  }): Promise<number>;
  /** False: somebody has begun another life under this name, and this one counts as dead. */
  see(bootId: string, now: Date): Promise<boolean>;
  end(bootId: string, now: Date): Promise<void>;
  /** Drops lives not seen since; answers how many. */
  forget(before: Date): Promise<number>;
}
