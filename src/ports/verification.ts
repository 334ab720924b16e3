import type { AttemptStatus } from '../domain/attempt/statuses';
import type { TaskStatus } from '../domain/generation/statuses';
import type { Facts } from '../domain/reconciliation/facts';

/**
 * One look at the stored facts from outside of the product's own stores: raw rows of one consistent instant, read only,
 * in bounded batches, beside what others say of the same facts.
 */
export interface FactsLook {
  /** Tells what a witness says. Only before the first read: the rows are then younger than the evidence. */
  witness(evidence: Iterable<Evidence> | AsyncIterable<Evidence>): Promise<number>;
  /** Generations with everything that belongs to them, in order of id; empty at the end. */
  readTasks(after: string, limit: number): Promise<TaskBatch>;
  /** Accounts with the sums of their entries and open holds; no generations. */
  readAccounts(after: string, limit: number): Promise<AccountBatch>;
  /** Runs one of the look's statements: what it answers are violations. */
  find(check: string, parameters: FindParameters): Promise<readonly Found[]>;
  countRows(): Promise<number>;
  close(): Promise<void>;
}

export interface TaskBatch {
  readonly facts: Facts;
  /** Of the last generation; null at the end. */
  readonly last: string | null;
  /** Ids of generations created at or after the given instant. */
  createdSince(instant: Date): ReadonlySet<string>;
}

export interface AccountBatch {
  readonly facts: Facts;
  readonly last: string | null;
}

export interface Found {
  readonly subject: string;
  readonly detail: string;
}

/**
 * A job, a request or a charge in the provider's own log, an object in the store and what was read of its bytes, an upload
 * in parts that is open there, or what is held
 * where slots are counted outside of the database. `reference` is what joins it to ours.
 */
export interface Evidence {
  readonly kind:
    | 'job'
    | 'post'
    | 'charge'
    | 'object'
    | 'bytes'
    | 'parts'
    /** By a holder, with its token, until then; of a scope, by the holder of `id`. */
    | 'slot_lease'
    | 'slot_lease_scope'
    /** How many slots of a scope count as taken, and how many there are. */
    | 'slots_used'
    | 'slots_limit';
  /** Of an object the checksum that the store noted, of bytes their own, of parts the name of their upload. */
  readonly id: string | null;
  readonly reference: string | null;
  /** Exact decimal of a charge, the size of an object, or a number of slots. */
  readonly amount: string | null;
  readonly at: Date | null;
}

export interface FindParameters {
  readonly limit: number;
  /** What is younger may still be under way. */
  readonly settledBefore: Date;
  readonly settleMs: number;
  /** Smallest id of a day whose rows are all kept. */
  readonly since: string;
  readonly kinds: readonly string[];
  readonly froms: readonly (TaskStatus | AttemptStatus)[];
  readonly tos: readonly (TaskStatus | AttemptStatus)[];
  readonly readTypes: readonly string[];
  readonly readerGroups: readonly string[];
  /** Of what must not be written anywhere. Patterns are read alike by Postgres and by JavaScript. */
  readonly names: readonly string[];
  readonly patterns: readonly string[];
}

/** Something that must not be written anywhere, and how it would look. */
export interface Secret {
  readonly name: string;
  readonly pattern: string;
}

/** What lies beside the database on this machine: logs, scratch files, processes. */
export interface MachineLook {
  findSecrets(secrets: readonly Secret[], limit: number): Promise<readonly Found[]>;
  findLeftoverFiles(limit: number): Promise<readonly Found[]>;
  findLeftoverProcesses(limit: number): Promise<readonly Found[]>;
}
