import type { Attempt } from '../domain/attempt/attempt';
import type { LedgerKind } from '../domain/billing/outcomes';
import type { TaskStatus } from '../domain/generation/statuses';
import type { GenerationRequest, Task } from '../domain/generation/task';
import type { Asset, AssetKind, AssetStatus } from '../domain/output/asset';
import type { Quote } from './stores/catalog-store';

/** A cut of a list that is ordered newest first, by id. */
export interface PageRequest {
  /** 1 to 100. */
  readonly limit: number;
  /** Only rows that come after this one in the list. */
  readonly afterId: string | null;
  /** Only rows that come before this one in the list. */
  readonly beforeId: string | null;
  /** The last rows of the cut instead of the first; the answer is newest first all the same. */
  readonly fromEnd: boolean;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Whether more rows follow in the direction of travel. */
  readonly hasMore: boolean;
}

export interface GenerationFilter {
  readonly statuses: readonly TaskStatus[] | null;
  readonly model: string | null;
  readonly projectId: string | null;
  /** Inclusive. */
  readonly createdAfter: Date | null;
  /** Exclusive. */
  readonly createdBefore: Date | null;
}

export interface AssetFilter {
  readonly statuses: readonly AssetStatus[] | null;
  readonly kinds: readonly AssetKind[] | null;
  readonly projectId: string | null;
  readonly createdAfter: Date | null;
  readonly createdBefore: Date | null;
}

export interface LedgerFilter {
  readonly kinds: readonly LedgerKind[] | null;
  readonly taskId: string | null;
  readonly createdAfter: Date | null;
  readonly createdBefore: Date | null;
}

/** One row of the history of a generation. */
export interface StateEvent {
  readonly eventId: string;
  readonly taskId: string;
  readonly tenantId: string;
  readonly attemptId: string | null;
  readonly source: string;
  readonly type: string;
  readonly fromStatus: TaskStatus | null;
  readonly toStatus: TaskStatus;
  readonly taskVersion: number;
  /** Why the event changed nothing; null for a transition. */
  readonly ignoredReason: string | null;
  readonly providerUpdatedAt: Date | null;
  readonly observedAt: Date;
}

export interface LedgerEntry {
  readonly id: string;
  readonly tenantId: string;
  readonly taskId: string | null;
  readonly attemptId: string | null;
  readonly kind: LedgerKind;
  readonly amountMicros: bigint;
  readonly availableDelta: bigint;
  readonly heldDelta: bigint;
  readonly businessKey: string;
  readonly reason: string;
  readonly actor: string;
  readonly createdAt: Date;
}

export interface Project {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
}

export type TimelineKind =
  | 'API_CALL'
  | 'TRANSITION'
  | 'IGNORED'
  | 'ATTEMPT'
  | 'PROVIDER_ANSWER'
  | 'CALLBACK'
  | 'LEDGER'
  | 'MODERATION'
  | 'MEDIA'
  | 'FINDING'
  | 'OPERATOR';

/** One thing that happened to a generation, as the rows tell it; what a tenant may not see is not taken out yet. */
export interface TimelineEntry {
  readonly at: Date;
  readonly kind: TimelineKind;
  /** Who saw or wrote it. */
  readonly source: string;
  readonly what: string;
  readonly attemptId: string | null;
  readonly actor: string | null;
  readonly ref: string;
  readonly facts: Readonly<Record<string, string | number | boolean | null>>;
}

/** A message that has been written and has not left yet. */
export interface PlannedMessage {
  readonly type: string;
  readonly availableAt: Date;
}

/** A result that came after the end of its generation. */
export interface LateResult {
  readonly taskId: string;
  readonly attemptId: string;
  readonly seenAt: Date;
  readonly costAmount: string | null;
  readonly costCurrency: string | null;
  /** Of the output's address without its signature. */
  readonly outputUrlSha256: string | null;
}

export type OfTask<T> = T & { readonly taskId: string };

export interface RowKey {
  readonly tenantId: string;
  readonly id: string;
}

/**
 * Reads of the API: paged lists, and lookups by many ids at once so that a list costs as many statements as its fields
 * and not as its rows.
 *
 * Contract, checked by test/integration/api/tenancy.test.ts and lists.test.ts:
 * - Every method takes the tenant. Rows of another tenant are absent from the answer, exactly like ids that do not exist.
 * - Each method costs a fixed number of statements, whatever the number of ids. Answers to many ids come in no order and without the absent ones.
 * - Lists are newest first, by id; a page never repeats or skips a row because others were written meanwhile.
 * - Throws `DatabaseUnavailableError` when the database is out of reach.
 */
export interface ReadModel {
  readTasks(tenantId: string, ids: readonly string[]): Promise<Task[]>;
  findTaskByKey(tenantId: string, idempotencyKey: string): Promise<Task | null>;
  pageTasks(tenantId: string, filter: GenerationFilter, page: PageRequest): Promise<Page<Task>>;
  readRequests(
    tenantId: string,
    taskIds: readonly string[],
  ): Promise<OfTask<{ request: GenerationRequest }>[]>;
  /** Reference assets by their task, in their order. */
  listInputs(tenantId: string, taskIds: readonly string[]): Promise<OfTask<{ asset: Asset }>[]>;
  /** Raw outputs and what was derived from them. */
  listOutputs(tenantId: string, taskIds: readonly string[]): Promise<OfTask<{ asset: Asset }>[]>;
  listAttempts(tenantId: string, taskIds: readonly string[]): Promise<Attempt[]>;
  readAttempts(tenantId: string, ids: readonly string[]): Promise<Attempt[]>;
  /** Oldest first; of each task at most the latest `limitEach`. */
  listEvents(
    tenantId: string,
    taskIds: readonly string[],
    limitEach: number,
  ): Promise<StateEvent[]>;
  /** Transitions, without ignored events, with a version above `afterVersion`; oldest first, at most `limit`. */
  listTransitions(
    tenantId: string,
    taskId: string,
    afterVersion: number,
    limit: number,
  ): Promise<StateEvent[]>;
  /** Everything known of one generation in one order, from one statement; of more than `limit` entries the latest. */
  readTimeline(tenantId: string, taskId: string, limit: number): Promise<TimelineEntry[]>;
  listPlannedMessages(tenantId: string, aggregateIds: readonly string[]): Promise<PlannedMessage[]>;
  listLedgerOfTasks(tenantId: string, taskIds: readonly string[]): Promise<LedgerEntry[]>;
  readLedgerEntries(tenantId: string, ids: readonly string[]): Promise<LedgerEntry[]>;
  pageLedger(tenantId: string, filter: LedgerFilter, page: PageRequest): Promise<Page<LedgerEntry>>;
  listLateResults(tenantId: string, taskIds: readonly string[]): Promise<LateResult[]>;
  /**
   * Place of each task in the scheduler's own line of those that are due by `horizon`, 1 = served next; without those
   * further back than `LINE_MAX`.
   */
  readWaitingPlaces(
    tenantId: string,
    taskIds: readonly string[],
    horizon: Date,
  ): Promise<OfTask<{ position: number }>[]>;
  readAssets(tenantId: string, ids: readonly string[]): Promise<Asset[]>;
  pageAssets(tenantId: string, filter: AssetFilter, page: PageRequest): Promise<Page<Asset>>;
  readQuotes(tenantId: string, ids: readonly string[]): Promise<Quote[]>;
  readProjects(tenantId: string, ids: readonly string[]): Promise<Project[]>;
  /** For the live feeds of all tenants at once; each row only under its own tenant. */
  readLiveTasks(keys: readonly RowKey[]): Promise<Task[]>;
  readLiveAssets(keys: readonly RowKey[]): Promise<Asset[]>;
}
