import { setTimeout as wait } from 'node:timers/promises';

import type { Client } from 'pg';

import type { BenchServer } from './bench-server';
import type { Fleet } from './contender-fleet';

export interface IdleReading {
  readonly queriesPerSecond: number;
  readonly queriesPerSecondAndProcess: number;
  /** The most frequent ones, calls per second first. */
  readonly most: readonly string[];
}

/** Lets leases, retries and wake-ups of the start die down. */
const QUIET_MS = 3_000;

/** Counts the statements of a fleet that has nothing to do, BEGIN and COMMIT included, by pg_stat_statements. */
export const measureIdle = async (
  fleet: Fleet,
  server: BenchServer,
  admin: Client,
  seconds: number,
): Promise<IdleReading> => {
  await wait(QUIET_MS);
  await admin.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
  await admin.query("ALTER SYSTEM SET pg_stat_statements.track = 'top'");
  await admin.query('SELECT pg_reload_conf()');
  await admin.query('SELECT pg_stat_statements_reset()');
  await wait(seconds * 1_000);
  const { rows } = await admin.query<{ calls: string; query: string }>(
    `SELECT sum(calls) AS calls, query FROM pg_stat_statements
     WHERE dbid = (SELECT oid FROM pg_database WHERE datname = $1)
     GROUP BY query ORDER BY 1 DESC`,
    [new URL(server.databaseUrl).pathname.slice(1)],
  );
  await admin.query('ALTER SYSTEM RESET pg_stat_statements.track');
  await admin.query('SELECT pg_reload_conf()');
  const calls = rows.reduce((sum, row) => sum + Number(row.calls), 0);
  return {
    queriesPerSecond: calls / seconds,
    queriesPerSecondAndProcess: calls / seconds / fleet.size,
    most: rows
      .slice(0, 12)
      .map(
        (row) =>
          `${(Number(row.calls) / seconds).toFixed(1)}  ${row.query.replace(/\s+/g, ' ').slice(0, 90)}`,
      ),
  };
};
