import type { Clock } from '../../../ports/clock';
import type { CatalogStore } from '../../../ports/stores/catalog-store';
import type { Stores, UnitOfWork } from '../../../ports/unit-of-work';

const KEYS_MAX = 10_000;

/**
 * Reads outside transactions see the catalogue as it was up to `ageMsMax` ago: tenants, models, providers and accounts change by
 * hand and are read for every generation several times. A process that changes them itself forgets at once; what decides under a
 * lock reads the catalogue of its transaction, which remembers nothing.
 */
export const rememberCatalog = (uow: UnitOfWork, clock: Clock, ageMsMax: number): UnitOfWork => {
  const remembered = rememberReads(uow.stores.catalog, clock, ageMsMax);
  return {
    stores: { ...uow.stores, catalog: remembered.catalog },
    transact: async (work, sharing) => {
      let switched = false;
      const result = await uow.transact(
        (tx) =>
          work(
            noticing(tx, () => {
              switched = true;
            }),
          ),
        sharing,
      );
      if (switched) remembered.forget();
      return result;
    },
  };
};

/** The same stores, telling when somebody reaches for what changes the catalogue. */
const noticing = (tx: Stores, onSwitches: () => void): Stores =>
  Object.defineProperty({ ...tx }, 'switches', {
    get: () => {
      onSwitches();
      return tx.switches;
    },
  });

const rememberReads = (
  catalog: CatalogStore,
  clock: Clock,
  ageMsMax: number,
): { readonly catalog: CatalogStore; readonly forget: () => void } => {
  const memories: Map<string, unknown>[] = [];
  const remember = <Key extends [] | [string], Value>(
    read: (...key: Key) => Promise<Value>,
  ): ((...key: Key) => Promise<Value>) => {
    const known = new Map<string, Known<Value>>();
    memories.push(known);
    return rememberIn(known, read, clock, ageMsMax);
  };
  return {
    catalog: {
      ...catalog,
      readTenant: remember(catalog.readTenant),
      listModels: remember(catalog.listModels),
      readModel: remember(catalog.readModel),
      readProvider: remember(catalog.readProvider),
      listAccounts: remember(catalog.listAccounts),
      readAccount: remember(catalog.readAccount),
    },
    forget: () => {
      for (const known of memories) known.clear();
    },
  };
};

interface Known<Value> {
  readonly at: number;
  readonly value: Promise<Value>;
}

/** One read for all who ask within the time; a failed read is not remembered. */
const rememberIn = <Key extends [] | [string], Value>(
  known: Map<string, Known<Value>>,
  read: (...key: Key) => Promise<Value>,
  clock: Clock,
  ageMsMax: number,
): ((...key: Key) => Promise<Value>) => {
  return (...key) => {
    const name = key[0] ?? '';
    const now = clock.now().getTime();
    const present = known.get(name);
    if (present !== undefined && Math.abs(now - present.at) < ageMsMax) return present.value;
    if (known.size >= KEYS_MAX) known.clear();
    const entry = { at: now, value: read(...key) };
    known.set(name, entry);
    entry.value.catch(() => {
      if (known.get(name) === entry) known.delete(name);
    });
    return entry.value;
  };
};
