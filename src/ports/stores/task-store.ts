import type { Step } from '../../domain/generation/decision';
import type { TaskPatch } from '../../domain/generation/evolve';
import type { GenerationRequest, Task } from '../../domain/generation/task';
import type { OutboxMessage } from '../messages';

export type EventSource =
  'api' | 'scheduler' | 'callback' | 'polling' | 'worker' | 'admin' | 'reconciler';

/** Who saw what, for the history. The payload is redacted and bounded by the writer (4 kB). */
export interface EventOrigin {
  readonly source: EventSource;
  readonly sourceEventId: string | null;
  readonly attemptId: string | null;
  readonly providerUpdatedAt: Date | null;
  readonly payload: Readonly<Record<string, unknown>> | null;
}

export interface NewTask {
  readonly id: string;
  readonly tenantId: string;
  readonly projectId: string | null;
  readonly apiKeyId: string | null;
  readonly clientIdempotencyKey: string;
  readonly requestHash: string;
  readonly quoteId: string | null;
  readonly requestedModel: string;
  readonly priority: number;
  readonly priceMicros: bigint;
  readonly reservedMicros: bigint;
  readonly deadlineAt: Date;
  readonly traceId: string;
  readonly request: GenerationRequest;
  readonly inputs: readonly { readonly assetId: string; readonly role: 'REFERENCE_IMAGE' }[];
  /** The path walked inside the creating transaction, from CREATED on; the last `to` is the status. */
  readonly path: readonly {
    readonly event: Step['event'] | 'created';
    readonly to: Step['to'];
    readonly eventId: string;
  }[];
}

/** A task waiting for the scheduler, in the order in which it should be served. */
export interface Candidate {
  readonly taskId: string;
  readonly tenantId: string;
  readonly status: 'QUEUED' | 'RETRY_WAIT';
  readonly model: string;
  /** 1 = served next. */
  readonly position: number;
  /** How many of its tenant may be in flight. */
  readonly tenantMax: number;
}

/** Due rows that take part in the fair order: many for a queue, few for a database. */
export const LINE_MAX = 5_000;

export interface TaskStore {
  /** `EXISTS` when (tenant, key) is taken; nothing was written then. Messages leave with the insert. */
  insert(
    task: NewTask,
    messages: readonly OutboxMessage[],
    now: Date,
  ): Promise<'CREATED' | 'EXISTS'>;
  read(taskId: string): Promise<Task | null>;
  /** Reads and locks the row until the transaction ends. Always taken before an attempt's lock. */
  lock(taskId: string): Promise<Task | null>;
  findByIdempotencyKey(tenantId: string, key: string): Promise<Task | null>;
  readRequest(taskId: string): Promise<GenerationRequest | null>;
  /**
   * One transition: row, history and messages in one statement, guarded by status and version. Answers the moved row,
   * or null when the guard did not match (read again, judge again).
   */
  move(change: {
    readonly task: Task;
    readonly step: Step;
    readonly patch: TaskPatch;
    readonly eventId: string;
    readonly origin: EventOrigin;
    readonly messages: readonly OutboxMessage[];
    readonly now: Date;
  }): Promise<Task | null>;
  /** Writes an event that changed nothing, with the reason. */
  recordIgnored(entry: {
    readonly task: Task;
    readonly type: string;
    readonly reason: string;
    readonly eventId: string;
    readonly origin: EventOrigin;
    readonly now: Date;
  }): Promise<void>;
  /** Display only: never lowers, never touches the version. Answers whether it rose. */
  raiseProgress(taskId: string, progress: number): Promise<boolean>;
  /** Puts a waiting task back with the reason it waits and when to look again. */
  postpone(taskId: string, reason: string, until: Date): Promise<void>;
  /** Fair order over tenants (in flight, then own order), priority first; only due rows, nothing is locked. */
  listCandidates(now: Date, limit: number): Promise<Candidate[]>;
  /** The whole of that line, at most `LINE_MAX`: what the scheduler would serve, in its order. */
  readLine(now: Date): Promise<Candidate[]>;
  countWaiting(now: Date): Promise<number>;
  countLiveOf(tenantId: string): Promise<{ readonly queued: number; readonly inFlight: number }>;
  /** Live tasks whose deadline (or recovery deadline) has passed. */
  listOverdue(now: Date, limit: number): Promise<string[]>;
  /** Live tasks untouched since `before` whose next step nobody holds: their message may be lost. */
  listStuck(before: Date, now: Date, limit: number): Promise<string[]>;
  /** Ended tasks whose hold is still open, and whose settlement was not asked for since `before`. */
  listUnsettled(before: Date, limit: number): Promise<string[]>;
  /** For a settlement that came after the end; never changes one that is there. */
  noteSettled(taskId: string, settledMicros: bigint): Promise<void>;
  /** Tasks whose media was given up, and whom no person has helped since `before`. */
  listMediaGivenUp(before: Date, limit: number): Promise<string[]>;
}
