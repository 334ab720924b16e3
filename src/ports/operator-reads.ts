import type { Attempt } from '../domain/attempt/attempt';
import type { FindingKind } from '../domain/generation/decision';
import type { Task } from '../domain/generation/task';
import type { Page, PageRequest } from './read-model';
import type { AccountRow, Provider, Tenant } from './stores/catalog-store';
import type { Finding } from './stores/operations-store';

export interface FindingFilter {
  readonly kinds: readonly FindingKind[] | null;
  /** True: only resolved ones; false: only open ones. */
  readonly resolved: boolean | null;
  readonly subjectId: string | null;
}

export interface AuditFilter {
  readonly subjectId: string | null;
  readonly actor: string | null;
}

/** Who did what to what, why, and how it stood before and after. Never changed. */
export interface AuditEntry {
  readonly id: string;
  readonly tenantId: string | null;
  readonly actor: string;
  readonly action: string;
  readonly subjectKind: string;
  readonly subjectId: string;
  readonly reason: string | null;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly createdAt: Date;
}

/** A message that was given up: by the relay, or by a consumer group on the bus. */
export interface DeadMessage {
  /** Of the event, as everybody who reads it knows it. */
  readonly id: string;
  readonly place: 'OUTBOX' | 'BUS';
  readonly consumerGroup: string | null;
  readonly type: string;
  readonly tenantId: string | null;
  readonly tries: number;
  readonly lastError: string | null;
  readonly occurredAt: Date;
}

export interface ProviderView extends Pick<Provider, 'id' | 'displayName' | 'status'> {
  readonly accounts: readonly Pick<
    AccountRow,
    'id' | 'status' | 'concurrentMax' | 'circuitOpenUntil'
  >[];
}

/**
 * What operators look through, across all tenants. Behind the `operator` scope alone.
 *
 * Contract, checked by test/integration/api/operator.test.ts:
 * - Lists are newest first, by id; a page never repeats or skips a row because others were written meanwhile.
 * - A list reads the rows that it shows, and never those of generations that have ended.
 * - Throws `DatabaseUnavailableError` when the database is out of reach.
 */
export interface OperatorReads {
  /** Prompts that wait for a person. */
  pageInReview(page: PageRequest): Promise<Page<Task>>;
  /** Generations whose step was given up until a person decides. */
  pageNeedingOperator(page: PageRequest): Promise<Page<Task>>;
  /** Attempts of which nobody knows whether a job exists: UNKNOWN, and ABANDONED that are still watched. */
  pageInDoubt(page: PageRequest): Promise<Page<Attempt>>;
  pageFindings(filter: FindingFilter, page: PageRequest): Promise<Page<Finding>>;
  pageDeadMessages(page: PageRequest): Promise<Page<DeadMessage>>;
  pageAudit(filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>>;
  pageTenants(page: PageRequest): Promise<Page<Tenant>>;
  listProviders(): Promise<ProviderView[]>;
}
