import type { AttemptStatus } from '../attempt/statuses';
import type { LedgerKind } from '../billing/outcomes';
import type { TaskStatus } from '../generation/statuses';
import type { Micros } from '../kernel/money';

/** Plain rows, as any store, test or restored backup can give them. */
export interface TaskRow {
  readonly id: string;
  readonly status: TaskStatus;
  readonly version: number;
  readonly currentAttemptNo: number;
}

export interface AttemptRow {
  readonly id: string;
  readonly taskId: string;
  readonly attemptNo: number;
  readonly status: AttemptStatus;
  readonly jobId: string | null;
}

/** One row of a task's history; the first has type `created` and no `from`. */
export interface HistoryRow {
  readonly taskId: string;
  readonly type: string;
  readonly from: TaskStatus | null;
  readonly to: TaskStatus;
  readonly taskVersion: number;
  /** Set on events that changed nothing. */
  readonly ignoredReason: string | null;
}

export interface HoldRow {
  readonly taskId: string;
  readonly tenantId: string;
  readonly amountMicros: Micros;
  readonly status: 'OPEN' | 'CLOSED';
}

export interface LedgerRow {
  readonly tenantId: string;
  readonly taskId: string | null;
  readonly kind: LedgerKind;
  readonly amountMicros: Micros;
  readonly availableDelta: Micros;
  readonly heldDelta: Micros;
  readonly businessKey: string;
}

export interface AccountRow {
  readonly tenantId: string;
  readonly availableMicros: Micros;
  readonly heldMicros: Micros;
}

/** A job as the provider knows it, with what we gave it to echo. */
export interface ProviderJobRow {
  readonly jobId: string;
  readonly attemptId: string;
}

export interface Facts {
  readonly tasks: readonly TaskRow[];
  readonly attempts: readonly AttemptRow[];
  readonly history: readonly HistoryRow[];
  readonly holds: readonly HoldRow[];
  readonly ledger: readonly LedgerRow[];
  readonly accounts: readonly AccountRow[];
  /** Tasks whose settlement left by a message that billing has not handled yet. */
  readonly pendingSettlements: readonly string[];
  /** From the provider's own record; empty where there is none to ask. */
  readonly providerJobs: readonly ProviderJobRow[];
}

export interface Violation {
  readonly invariant: string;
  /** The id of the row that breaks it: a task, an attempt, a tenant, a key. */
  readonly subject: string;
  readonly detail: string;
}

/** One thing that must always hold; it answers where it does not. */
export interface Invariant {
  readonly name: string;
  readonly says: string;
  readonly find: (facts: Facts) => Violation[];
}

export const groupBy = <T, K>(rows: readonly T[], keyOf: (row: T) => K): Map<K, T[]> => {
  const groups = new Map<K, T[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return groups;
};

/** Builds an invariant from a rule that names only subject and detail. */
export const invariant = (
  name: string,
  says: string,
  find: (facts: Facts) => readonly (readonly [subject: string, detail: string])[],
): Invariant => ({
  name,
  says,
  find: (facts) => find(facts).map(([subject, detail]) => ({ invariant: name, subject, detail })),
});
