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
  /** For a lock that another transaction holds; 0, the default, leaves it to the statement's time. */
  readonly lockTimeoutMs?: number;
  /**
   * A pooler that gives each transaction a session of its own choice is in between: it takes no settings at the start of a
   * connection, and knows nothing of statements prepared in another session.
   */
  readonly behindPooler?: boolean;
}

/** What each transaction of a pool behind a pooler says first, instead of once for its session. */
const transactionSettings = new WeakMap<Pool, string>();

/** Null for a pool whose sessions are its own. */
export const transactionSettingsOf = (pool: Pool): string | null =>
  transactionSettings.get(pool) ?? null;

/**
 * A pool whose rejections are `DatabaseUnavailableError` when the database is out of reach, of `pool.query` and of
 * every client's `query` alike. A connection that breaks while idle or checked out leaves the pool; the next
 * `connect` makes a new one, so that a restarted server needs no restarted process. Queries of one client are sent
 * without waiting for the answers to earlier ones, and answered in order.
 */
export const createPool = (options: PoolOptions): Pool => {
  const { lockTimeoutMs = 0, synchronousCommit = 'on', behindPooler = false } = options;
  const session = {
    statement_timeout: options.statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: options.idleInTransactionTimeoutMs,
  };
  const modes = {
    TimeZone: 'UTC',
    synchronous_commit: synchronousCommit,
    ...(options.preferIndexes === true
      ? { enable_seqscan: 'off', enable_bitmapscan: 'off', enable_sort: 'off' }
      : {}),
  };
  // Each statement is planned once a session and not five times and more: planning cost more than a short statement does, most of
  // all after a restart of the server. Statements therefore name a status in their text, never by a parameter, where a partial
  // index is to serve them.
  const plans = { plan_cache_mode: 'force_generic_plan' };
  const pool = new Pool({
    connectionString: options.connectionString,
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectionTimeoutMs,
    keepAlive: true,
    pipeline: true,
    types: rowTypes,
    ...(behindPooler ? {} : { ...session, options: asOptions({ ...modes, ...plans }) }),
  });
  if (behindPooler) transactionSettings.set(pool, asStatements({ ...session, ...modes }));
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

type Settings = Readonly<Record<string, string | number>>;

const asOptions = (settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

const asStatements = (settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `SET LOCAL ${name} = '${value}'`)
    .join('; ');

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
