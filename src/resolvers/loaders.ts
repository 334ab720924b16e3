import DataLoader from 'dataloader';

import type { Attempt } from '../domain/attempt/attempt';
import type { GenerationRequest, Task } from '../domain/generation/task';
import type { Asset } from '../domain/output/asset';
import type { Balance } from '../ports/stores/money-store';
import type { LateResult, LedgerEntry, ReadModel, RowKey, StateEvent } from '../ports/read-model';

/** History shown with a generation: the latest part; the rest is kept all the same. */
const EVENTS_EACH_MAX = 200;

type One<T> = DataLoader<RowKey, T | null, string>;
type Many<T> = DataLoader<RowKey, readonly T[], string>;

/** Rows of one operation, each read once and together with its neighbours: a list costs as many statements as fields. */
export interface Loaders {
  readonly balanceOfTenant: DataLoader<string, Balance | null>;
  readonly task: One<Task>;
  readonly asset: One<Asset>;
  readonly requestOfTask: One<GenerationRequest>;
  readonly waitingPlaceOfTask: One<number>;
  readonly attemptsOfTask: Many<Attempt>;
  readonly eventsOfTask: Many<StateEvent>;
  readonly ledgerOfTask: Many<LedgerEntry>;
  readonly lateResultsOfTask: Many<LateResult>;
  readonly inputsOfTask: Many<Asset>;
  readonly outputsOfTask: Many<Asset>;
}

/**
 * @param horizon until when a waiting task counts as due: what the scheduler looks at in one pass
 * @param balanceOf of a tenant; nearly always one, so that each is read by itself
 */
export const createLoaders = (
  reads: ReadModel,
  horizon: () => Date,
  balanceOf: (tenantId: string) => Promise<Balance | null>,
): Loaders => ({
  balanceOfTenant: new DataLoader((tenantIds) => Promise.all(tenantIds.map(balanceOf))),
  task: loadOne(
    (tenantId, ids) => reads.readTasks(tenantId, ids),
    ({ id }) => id,
    (task) => task,
  ),
  asset: loadOne(
    (tenantId, ids) => reads.readAssets(tenantId, ids),
    ({ id }) => id,
    (asset) => asset,
  ),
  requestOfTask: loadOne(
    (tenantId, ids) => reads.readRequests(tenantId, ids),
    taskOf,
    ({ request }) => request,
  ),
  waitingPlaceOfTask: loadOne(
    (tenantId, ids) => reads.readWaitingPlaces(tenantId, ids, horizon()),
    taskOf,
    ({ position }) => position,
  ),
  attemptsOfTask: loadMany(
    (tenantId, ids) => reads.listAttempts(tenantId, ids),
    taskOf,
    (attempt) => attempt,
  ),
  eventsOfTask: loadMany(
    (tenantId, ids) => reads.listEvents(tenantId, ids, EVENTS_EACH_MAX),
    taskOf,
    (event) => event,
  ),
  ledgerOfTask: loadMany(
    (tenantId, ids) => reads.listLedgerOfTasks(tenantId, ids),
    ({ taskId }) => taskId ?? '',
    (entry) => entry,
  ),
  lateResultsOfTask: loadMany(
    (tenantId, ids) => reads.listLateResults(tenantId, ids),
    taskOf,
    (result) => result,
  ),
  inputsOfTask: loadMany(
    (tenantId, ids) => reads.listInputs(tenantId, ids),
    taskOf,
    ({ asset }) => asset,
  ),
  outputsOfTask: loadMany(
    (tenantId, ids) => reads.listOutputs(tenantId, ids),
    taskOf,
    ({ asset }) => asset,
  ),
});

const taskOf = ({ taskId }: { readonly taskId: string }): string => taskId;

type Read<Row> = (tenantId: string, ids: readonly string[]) => Promise<readonly Row[]>;

const loadMany = <Row, T>(
  read: Read<Row>,
  keyOf: (row: Row) => string,
  valueOf: (row: Row) => T,
): Many<T> =>
  new DataLoader(
    async (keys) => {
      const groups = new Map<string, T[]>();
      for (const row of await readByTenant(read, keys)) {
        const group = groups.get(keyOf(row)) ?? [];
        group.push(valueOf(row));
        groups.set(keyOf(row), group);
      }
      return keys.map(({ id }) => groups.get(id) ?? []);
    },
    { cacheKeyFn },
  );

const loadOne = <Row, T>(
  read: Read<Row>,
  keyOf: (row: Row) => string,
  valueOf: (row: Row) => T,
): One<T> =>
  new DataLoader(
    async (keys) => {
      const rows = await readByTenant(read, keys);
      const byKey = new Map(rows.map((row) => [keyOf(row), valueOf(row)]));
      return keys.map(({ id }) => byKey.get(id) ?? null);
    },
    { cacheKeyFn },
  );

const cacheKeyFn = ({ tenantId, id }: RowKey): string => `${tenantId}/${id}`;

/** Nearly always one tenant: only an operator's answer can hold rows of another. */
const readByTenant = async <Row>(read: Read<Row>, keys: readonly RowKey[]): Promise<Row[]> => {
  const idsByTenant = new Map<string, string[]>();
  for (const { tenantId, id } of keys) {
    idsByTenant.set(tenantId, [...(idsByTenant.get(tenantId) ?? []), id]);
  }
  const answers = await Promise.all(
    [...idsByTenant].map(([tenantId, ids]) => read(tenantId, [...new Set(ids)])),
  );
  return answers.flat();
};
