import { Pool, type PoolClient } from 'pg';

import { asDatabaseError } from './database-errors';
import { rowTypes } from './row-types';

export interface PoolOptions {
  readonly connectionString: string;
  readonly max: number;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** `off` only for what can be rebuilt: a crash may lose the last commits. */
  readonly synchronousCommit?: 'on' | 'off';
  /**
   * For small tables that are changed all the time: their rows are found in the order of an index, and the first one ends the look.
   * What the planner takes for as cheap, reading and sorting the few rows there are, reads all the dead ones too.
   */
  readonly preferIndexes?: boolean;
  /** For a new connection, and for waiting until one is free. */
  readonly connectionTimeoutMs: number;
  readonly statementTimeoutMs: number;
  readonly idleInTransactionTimeoutMs: number;
}

/**
 * A pool whose rejections are `DatabaseUnavailableError` when the database is out of reach, of `pool.query` and of
 * every client's `query` alike. A connection that breaks while idle or checked out leaves the pool; the next
 * `connect` makes a new one, so that a restarted server needs no restarted process. Queries of one client are sent
 * without waiting for the answers to earlier ones, and answered in order.
 */
export const createPool = (options: PoolOptions): Pool => {
  const pool = new Pool({
    connectionString: options.connectionString,
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectionTimeoutMs,
    statement_timeout: options.statementTimeoutMs,
    idle_in_transaction_session_timeout: options.idleInTransactionTimeoutMs,
    keepAlive: true,
    pipeline: true,
    types: rowTypes,
    options: settingsOf(options)
      .map((setting) => `-c ${setting}`)
      .join(' '),
  });
  translateRejections(pool, 'query');
  translateRejections(pool, 'connect');
  pool.on('connect', (client: PoolClient) => {
    translateRejections(client, 'query');
    // A connection that ends between two queries of a transaction speaks here; its next query rejects.
    client.on('error', ignoreBrokenConnection);
  });
  pool.on('error', ignoreBrokenConnection);
  return pool;
};

const settingsOf = ({ synchronousCommit = 'on', preferIndexes = false }: PoolOptions): string[] => [
  'TimeZone=UTC',
  `synchronous_commit=${synchronousCommit}`,
  ...(preferIndexes ? ['enable_seqscan=off', 'enable_bitmapscan=off', 'enable_sort=off'] : []),
];

/** The pool has dropped the client by then; who needs a connection next hears of the trouble, if it lasts. */
const ignoreBrokenConnection = (): void => undefined;

const translateRejections = <K extends string>(
  target: Record<K, unknown> | Pool | PoolClient,
  method: K,
): void => {
  const holder = target as Record<K, (...args: unknown[]) => unknown>;
  const original = holder[method].bind(target);
  holder[method] = (...args) => {
    const answer = original(...args);
    return answer instanceof Promise
      ? answer.catch((error: unknown) => {
          throw asDatabaseError(error);
        })
      : answer;
  };
};
