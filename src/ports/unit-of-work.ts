import type { AssetStore } from './stores/asset-store';
import type { AttemptStore } from './stores/attempt-store';
import type { CatalogStore, CatalogSwitches, QuoteStore } from './stores/catalog-store';
import type { InvoiceStore } from './stores/invoice-store';
import type { InboxStore, OutboxStore } from './stores/message-store';
import type { MoneyStore } from './stores/money-store';
import type {
  AuditStore,
  DatabaseLifeStore,
  FindingStore,
  ModerationStore,
} from './stores/operations-store';
import type { ProviderEventStore } from './stores/provider-event-store';
import type { RepairStore } from './stores/repair-store';
import type { TaskStore } from './stores/task-store';

/** All stores over one connection. */
export interface Stores {
  readonly tasks: TaskStore;
  readonly attempts: AttemptStore;
  readonly money: MoneyStore;
  readonly invoices: InvoiceStore;
  readonly assets: AssetStore;
  readonly providerEvents: ProviderEventStore;
  readonly catalog: CatalogStore;
  readonly switches: CatalogSwitches;
  readonly quotes: QuoteStore;
  readonly outbox: OutboxStore;
  readonly inbox: InboxStore;
  readonly findings: FindingStore;
  readonly moderation: ModerationStore;
  readonly audit: AuditStore;
  readonly repair: RepairStore;
  readonly lives: DatabaseLifeStore;
}

/**
 * A transaction that may share its commit with others of its line. Its work must be indifferent to what is done for another subject,
 * and lock rows in the order of docs/decisions/0017.
 */
export interface Sharing {
  /** Transactions that ask for the same statements in the same order, or nearly: a consumer group, a use case. */
  readonly line: string;
  /** What it is about; two about one subject never share. */
  readonly subject: string;
}

/**
 * Short local transactions on Postgres. No external call ever happens inside one.
 *
 * Contract, checked by test/integration/postgres/unit-of-work.test.ts:
 * - `transact` commits when `work` resolves and rolls back when it rejects; the rejection is passed on.
 *   A deadlock or serialisation failure is repeated from the start a few times, so `work` must not
 *   act outside the database.
 * - With `sharing`, several may be one transaction: each resolves when all are committed. Where one rejects, nothing of any is
 *   kept; the others are repeated without it, and it is repeated by itself, so that each ends as if it had been alone.
 * - After a commit that wrote messages the outbox bell rings; after a rollback it does not.
 * - `stores` outside a transaction run each statement by itself.
 * - When the database is out of reach, both throw `DatabaseUnavailableError` (retryable).
 */
export interface UnitOfWork {
  readonly stores: Stores;
  transact<T>(work: (tx: Stores) => Promise<T>, sharing?: Sharing): Promise<T>;
}

export class DatabaseUnavailableError extends Error {
  readonly code = 'DATABASE_UNAVAILABLE';
}
