import { setTimeout as wait } from 'node:timers/promises';

import type { Client } from 'pg';

import type { BenchServer } from './bench-server';
import type { Fleet } from './contender-fleet';
import { countStatements } from './count-statements';

export interface IdleReading {
  readonly queriesPerSecond: number;
  readonly queriesPerSecondAndProcess: number;
  /** The most frequent ones, calls per second first. */
  readonly most: readonly string[];
}

/** Lets leases, retries and wake-ups of the start die down. */
const QUIET_MS = 3_000;
const SHOWN_MAX = 12;

/** Counts the statements of a fleet that has nothing to do. */
export const measureIdle = async (
  fleet: Fleet,
  server: BenchServer,
  admin: Client,
  seconds: number,
): Promise<IdleReading> => {
  await wait(QUIET_MS);
  const counts = await countStatements(admin, server.databaseUrl, () => wait(seconds * 1_000));
  const calls = counts.reduce((sum, each) => sum + each.calls, 0);
  return {
    queriesPerSecond: calls / seconds,
    queriesPerSecondAndProcess: calls / seconds / fleet.size,
    most: counts
      .slice(0, SHOWN_MAX)
      .map(({ calls: count, query }) => `${(count / seconds).toFixed(1)}  ${query}`),
  };
};
