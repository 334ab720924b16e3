import type { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { Pool, PoolClient, QueryArrayConfig, QueryArrayResult } from 'pg';

import { isConnectionFault, isRepeatable, isStalePlan } from './database-errors';

const REPEATS_MAX = 3;
/** Lets the other transaction finish; at once, the two would often meet again. */
const REPEAT_DELAY_MS = 10;

/** What a statement runs on: one transaction, or a pool that runs each statement by itself. */
export interface Database {
  /** In a transaction, statements that are begun without waiting for each other share a round trip, in order. */
  execute(query: QueryArrayConfig): Promise<QueryArrayResult>;
  /** Runs statements that only together are right in one transaction; joins the transaction there is. */
  atomically<T>(work: (db: Database) => Promise<T>): Promise<T>;
}

export const transactionDatabase = (client: PoolClient): Database => {
  const db: Database = {
    execute: (query) => {
      holdBackWrites(client);
      return client.query<unknown[]>(query);
    },
    atomically: (work) => work(db),
  };
  return db;
};

export const poolDatabase = (pool: Pool): Database => ({
  execute: (query) => repeatOnCollision(() => withClient(pool, (client) => client.query(query))),
  atomically: (work) => runTransaction(pool, work),
});

/**
 * Commits when `work` resolves, rolls back when it rejects and passes the rejection on. Collisions with other
 * transactions are repeated from the start, a few times.
 */
export const runTransaction = <T>(pool: Pool, work: (db: Database) => Promise<T>): Promise<T> =>
  repeatOnCollision(() => withClient(pool, (client) => transactOnce(client, work)));

const transactOnce = async <T>(
  client: PoolClient,
  work: (db: Database) => Promise<T>,
): Promise<T> => {
  // BEGIN travels with the first statement, in one packet; it can only fail together with the connection.
  holdBackWrites(client);
  const begun = client.query('BEGIN');
  begun.catch(() => undefined);
  try {
    const result = await work(transactionDatabase(client));
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
const holdBackWrites = (client: PoolClient): void => {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Writable } })
    .connection;
  stream.cork();
  process.nextTick(() => stream.uncork());
};

const rollBack = async (client: PoolClient, error: unknown): Promise<void> => {
  if (isConnectionFault(error)) return;
  try {
    await client.query('ROLLBACK');
  } catch {
    // The connection is gone, and the server rolls back by itself; the first error says more than this one.
  }
};

/** A client comes back to the pool usable or not at all. */
const withClient = async <T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> => {
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
