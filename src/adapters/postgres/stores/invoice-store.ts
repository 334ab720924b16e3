import type { InvoicedAttempt } from '../../../domain/billing/invoice';
import type {
  Invoice,
  InvoiceItem,
  InvoiceStore,
  SettledTask,
} from '../../../ports/stores/invoice-store';
import type { Database } from '../database';
import { toJson } from '../json-parameters';
import { run, runForOne } from '../run-statement';

export const createInvoiceStore = (db: Database): InvoiceStore => ({
  lockProvider: async (providerId) => (await run(db, 'lock-provider', { providerId })).length > 0,
  findByDigest: (providerId, digest) =>
    runForOne<Invoice>(db, 'find-invoice-by-digest', { providerId, digest }),
  insert: async (invoice) => {
    await run(db, 'insert-invoice', { ...invoice });
  },
  listAttempts: async (providerId, jobIds, references) =>
    (await run<AttemptRow>(db, 'list-invoiced-attempts', { providerId, jobIds, references })).map(
      toInvoiced,
    ),
  listSeenKeys: async (providerId, keys) =>
    (await run<{ itemKey: string }>(db, 'list-seen-invoice-keys', { providerId, keys })).map(
      ({ itemKey }) => itemKey,
    ),
  listCharged: async (providerId, attemptIds, jobIds) =>
    (
      await run<{ subject: string }>(db, 'list-charged-before', { providerId, attemptIds, jobIds })
    ).map(({ subject }) => subject),
  lockSettled: (taskIds) =>
    db.atomically(async (tx) => {
      await run(tx, 'lock-holds', { taskIds });
      return run<SettledTask>(tx, 'read-settled-holds', { taskIds });
    }),
  listUncharged: async (providerId, start, end, limit) =>
    (await run<AttemptRow>(db, 'list-uncharged-attempts', { providerId, start, end, limit })).map(
      toInvoiced,
    ),
  listMissedItems: async (attemptIds) =>
    (await run<{ id: string }>(db, 'list-missed-invoice-items', { attemptIds })).map(
      ({ id }) => id,
    ),
  insertItems: async (items, now) => {
    await run(db, 'insert-invoice-items', { items: toJson(items.map(toColumns)), now });
  },
});

type AttemptRow = Omit<InvoicedAttempt, 'booked'> & {
  readonly costAmount: string | null;
  readonly costCurrency: string | null;
};

const toInvoiced = ({ costAmount, costCurrency, ...attempt }: AttemptRow): InvoicedAttempt => ({
  ...attempt,
  booked:
    costAmount === null || costCurrency === null
      ? null
      : { amount: costAmount, currency: costCurrency },
});

const toColumns = (item: InvoiceItem): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(item).map(([key, value]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
