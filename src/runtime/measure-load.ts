import { createSystemClock } from '../adapters/clock/system-clock';
import { createPool } from '../adapters/postgres';
import { readLoad } from '../adapters/postgres/read-load';
import type { MeasuredLoad } from '../ports/load-reads';
import type { Log } from '../ports/log';
import type { Config } from './config';
import { CannotLookError, reachDatabase } from './reach-database';

const STATEMENT_TIMEOUT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 10_000;

/** What the stored facts say of the last `spanMs`; the product may run meanwhile. Throws a CannotLookError. */
export const measureLoad = async (
  config: Config,
  log: Log,
  spanMs: number,
): Promise<MeasuredLoad> => {
  const database = await reachDatabase(config, log);
  const pool = createPool({
    connectionString: database.url,
    max: 1,
    applicationName: 'aivedio capacity',
    connectionTimeoutMs: CONNECT_TIMEOUT_MS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    idleInTransactionTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  try {
    const now = createSystemClock(config.clockOffsetMs).now();
    return await readLoad(pool, new Date(now.getTime() - spanMs), now);
  } catch (error) {
    throw new CannotLookError(`The load cannot be read: ${String(error)}`, { cause: error });
  } finally {
    await pool.end();
    await database.stop();
  }
};
