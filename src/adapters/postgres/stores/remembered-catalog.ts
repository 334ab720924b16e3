import type { Clock } from '../../../ports/clock';
import type { CatalogStore } from '../../../ports/stores/catalog-store';

const KEYS_MAX = 10_000;

/**
 * The catalogue, as it was up to `ageMsMax` ago: tenants, models, providers and accounts change by hand and are read for every
 * generation several times. What decides under a lock reads the catalogue of its transaction, which remembers nothing.
 */
export const rememberCatalog = (
  catalog: CatalogStore,
  clock: Clock,
  ageMsMax: number,
): CatalogStore => ({
  readTenant: remember(catalog.readTenant, clock, ageMsMax),
  listModels: remember(catalog.listModels, clock, ageMsMax),
  readModel: remember(catalog.readModel, clock, ageMsMax),
  readProvider: remember(catalog.readProvider, clock, ageMsMax),
  listAccounts: remember(catalog.listAccounts, clock, ageMsMax),
  readAccount: remember(catalog.readAccount, clock, ageMsMax),
  noteCircuit: catalog.noteCircuit,
  claimProbe: catalog.claimProbe,
  shrinkAccount: catalog.shrinkAccount,
});

/** One read for all who ask within the time; a failed read is not remembered. */
const remember = <Key extends [] | [string], Value>(
  read: (...key: Key) => Promise<Value>,
  clock: Clock,
  ageMsMax: number,
): ((...key: Key) => Promise<Value>) => {
  const known = new Map<string, { readonly at: number; readonly value: Promise<Value> }>();
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
