import type { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { Pool, PoolClient, QueryArrayConfig, QueryArrayResult } from 'pg';

import { isConnectionFault, isRepeatable, isStalePlan } from './database-errors';
import { transactionSettingsOf } from './pool';

const REPEATS_MAX = 3;
/** Lets the other transaction finish; at once, the two would often meet again. */
const REPEAT_DELAY_MS = 10;

/** What a statement runs on: one transaction, or a pool that runs each statement by itself. */
export interface Database {
  /**
   * In a transaction, statements that are begun without waiting for each other share a round trip, in order.
   * @param place where several pieces of work share a transaction: the lock that it takes, and its place in the order of locks
   */
  execute(query: QueryArrayConfig, place?: Place): Promise<QueryArrayResult>;
  /** Runs statements that only together are right in one transaction; joins the transaction there is. */
  atomically<T>(work: (db: Database) => Promise<T>): Promise<T>;
  /** How long a statement waits for a lock where others of the transaction wait with it. */
  readonly lockWaitMs?: number;
}

/** Locks are taken in the order of these ranks, within a rank in the order of keys. */
export type PlaceRank = 'TASK' | 'PROVIDER_ACCOUNT' | 'ACCOUNT';
export interface Place {
  readonly rank: PlaceRank;
  readonly key: string;
}

const transactionDatabase = (client: PoolClient, settings: string | null): Database => {
  const db: Database = {
    execute: ({ name, ...unnamed }) => {
      holdBackWrites(client);
      // Behind a pooler the next transaction may have a session that never saw this statement prepared.
      return client.query<unknown[]>(settings === null ? { name, ...unnamed } : unnamed);
    },
    atomically: (work) => work(db),
  };
  return db;
};

export const poolDatabase = (pool: Pool): Database => ({
  execute: (query) =>
    transactionSettingsOf(pool) === null
      ? repeatOnCollision(() => withClient(pool, (client) => client.query(query)))
      : // Its limits would otherwise be those of the server, or of whoever had the session before.
        runTransaction(pool, (db) => db.execute(query)),
  atomically: (work) => runTransaction(pool, work),
});

/**
 * Commits when `work` resolves, rolls back when it rejects and passes the rejection on. Collisions with other
 * transactions are repeated from the start, a few times.
 */
export const runTransaction = <T>(pool: Pool, work: (db: Database) => Promise<T>): Promise<T> =>
  repeatOnCollision(() => {
    const settings = transactionSettingsOf(pool);
    return withClient(pool, (client) => transactOnce(client, settings, work));
  });

const transactOnce = async <T>(
  client: PoolClient,
  settings: string | null,
  work: (db: Database) => Promise<T>,
): Promise<T> => {
  // BEGIN travels with the first statement, in one packet; it can only fail together with the connection.
  holdBackWrites(client);
  const begun = client.query(settings === null ? 'BEGIN' : `BEGIN; ${settings}`);
  begun.catch(() => undefined);
  try {
    const result = await work(transactionDatabase(client, settings));
    await begun;
    const { command } = await client.query('COMMIT');
    // Postgres answers COMMIT of a failed transaction with a quiet ROLLBACK.
    if (command !== 'COMMIT') throw new Error('A failed statement was passed over: rolled back');
    return result;
  } catch (error) {
    await rollBack(client, error);
    throw error;
  }
};

/**
 * Until the present turn ends, so that statements begun together leave in one packet: a write to a socket costs more
 * than all else that a statement does in this process.
 */
export const holdBackWrites = (client: PoolClient): void => {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Writable } })
    .connection;
  stream.cork();
  process.nextTick(() => stream.uncork());
};

export const rollBack = async (client: PoolClient, error: unknown): Promise<void> => {
  if (isConnectionFault(error)) return;
  try {
    await client.query('ROLLBACK');
  } catch {
    // The connection is gone, and the server rolls back by itself; the first error says more than this one.
  }
};

/** A client comes back to the pool usable or not at all. */
export const withClient = async <T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> => {
  const client = await pool.connect();
  let isSpoilt = true;
  try {
    const result = await work(client);
    isSpoilt = false;
    return result;
  } catch (error) {
    isSpoilt = isConnectionFault(error) || isStalePlan(error);
    throw error;
  } finally {
    client.release(isSpoilt);
  }
};

const repeatOnCollision = async <T>(run: () => Promise<T>): Promise<T> => {
  for (let repeats = 0; ; repeats += 1) {
    try {
      return await run();
    } catch (error) {
      if (repeats >= REPEATS_MAX || !isRepeatable(error)) throw error;
      await wait(REPEAT_DELAY_MS * (repeats + 1));
    }
  }
};
