import type { Pool } from 'pg';

import type { Bell, HandOver } from '../../ports/message-bus';
import type { Log } from '../../ports/log';
import type { Envelope } from '../../ports/messages';
import type { Stores, UnitOfWork } from '../../ports/unit-of-work';
import { poolDatabase, runTransaction, type Database } from './database';
import { createSharedCommits } from './share-commits';
import { createAssetStore } from './stores/asset-store';
import { createAttemptStore } from './stores/attempt-store';
import {
  createCatalogStore,
  createCatalogSwitches,
  createQuoteStore,
} from './stores/catalog-store';
import { createInvoiceStore } from './stores/invoice-store';
import { createInboxStore, createOutboxStore } from './stores/message-store';
import { createMoneyStore, SettlementBlockedError, type LedgerAccess } from './stores/money-store';
import {
  createAuditStore,
  createDatabaseLifeStore,
  createFindingStore,
  createModerationStore,
} from './stores/operations-store';
import { createProviderEventStore } from './stores/provider-event-store';
import { createRepairStore } from './stores/repair-store';
import { gatherReads } from './stores/gathered-stores';
import { createTaskStore } from './stores/task-store';
import type { Outgoing } from './outbox-rows';

/** The channel that wakes the outbox relay. */
export const OUTBOX_BELL = 'outbox';

const LEDGER_WAIT_MS = 2_000;

/** Stores and transactions over one pool. The bell rings, and messages are handed over, after their commit and never before. */
export const createUnitOfWork = ({
  pool,
  bell,
  log,
  ledgerWaitMs = LEDGER_WAIT_MS,
  handOver = null,
}: {
  readonly pool: Pool;
  readonly bell: Pick<Bell, 'ring'>;
  readonly log: Log;
  /** How long a transaction waits for the ledger before it refuses, or settles later. */
  readonly ledgerWaitMs?: number;
  /** The short way to consumers of this process; without it all messages go by relay and bus. */
  readonly handOver?: HandOver | null;
}): UnitOfWork => {
  const ring = (): void => {
    try {
      bell.ring(OUTBOX_BELL);
    } catch (error) {
      // The commit stands; the relay's slow poll finds the messages.
      log.warn('The outbox bell did not ring', { error: String(error) });
    }
  };
  const send = (held: readonly Envelope[], hasOthers: boolean): void => {
    for (const envelope of held) handOver?.deliver(envelope);
    if (hasOthers) ring();
  };
  const db = poolDatabase(pool);
  /** Commits the work by way of `commit`, and then sends off what it wrote for others. */
  const run = async <T>(
    work: (tx: Stores) => Promise<T>,
    settlesLater: boolean,
    commit: (inTransaction: (db: Database) => Promise<T>) => Promise<T>,
  ): Promise<T> => {
    let held: Envelope[] = [];
    let hasOthers = false;
    const result = await commit((db) => {
      held = [];
      hasOthers = false;
      const wrote: Outgoing['wrote'] = (envelopes, others) => {
        held.push(...envelopes);
        hasOthers ||= others;
      };
      const waitMs = Math.min(ledgerWaitMs, db.lockWaitMs ?? ledgerWaitMs);
      const ledger = { waitMs, settlesLater };
      return work(createStores(db, { handOver, wrote }, ledger));
    });
    send(held, hasOthers);
    return result;
  };
  const share = createSharedCommits(pool);
  return {
    stores: gatherReads(
      db,
      createStores(db, { handOver, wrote: send }, { waitMs: ledgerWaitMs, settlesLater: false }),
    ),
    transact: async (work, sharing) => {
      try {
        return await run(work, false, (inTransaction) =>
          sharing === undefined
            ? runTransaction(pool, inTransaction)
            : share(sharing, inTransaction),
        );
      } catch (error) {
        if (!(error instanceof SettlementBlockedError)) throw error;
        log.warn('The ledger is out of reach: the settlement leaves by the outbox', {});
        return run(work, true, (inTransaction) => runTransaction(pool, inTransaction));
      }
    },
  };
};

const createStores = (db: Database, outgoing: Outgoing, ledger: LedgerAccess): Stores => ({
  tasks: createTaskStore(db, outgoing, ledger.waitMs),
  attempts: createAttemptStore(db),
  money: createMoneyStore(db, ledger),
  invoices: createInvoiceStore(db),
  assets: createAssetStore(db),
  providerEvents: createProviderEventStore(db),
  catalog: createCatalogStore(db),
  switches: createCatalogSwitches(db),
  quotes: createQuoteStore(db),
  outbox: createOutboxStore(db, outgoing),
  inbox: createInboxStore(db),
  findings: createFindingStore(db),
  moderation: createModerationStore(db),
  audit: createAuditStore(db),
  repair: createRepairStore(db),
  lives: createDatabaseLifeStore(db),
});
