import { parseArgs } from 'node:util';
import { setTimeout as wait } from 'node:timers/promises';

import { Client } from 'pg';

import { startBenchServer, type BenchServer } from '../flow/bench-server';
import type { Fleet } from '../flow/contender-fleet';
import { endWithServer } from '../flow/end-with-server';
import { percentile, startContender } from '../flow/measure-contender';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Aims of the flow under disturbance: shares of the rate beside it. */
const HELD_SHARE_MIN = 0.85;
const BACK_SHARE_MIN = 0.85;
const BACK_WITHIN_MS = 10_000;
const BURST = 100;
const TENANTS = 8;

interface DisturbOptions {
  readonly holdSeconds: number;
  readonly freeSeconds: number;
  readonly pairs: number;
}

export const readDisturbOptions = (args: readonly string[]): DisturbOptions => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      short: { type: 'boolean', default: false },
      'hold-seconds': { type: 'string' },
      pairs: { type: 'string' },
    },
  });
  const holdSeconds = Number(values['hold-seconds'] ?? (values.short ? 20 : 180));
  const pairs = Number(values.pairs ?? (values.short ? 2 : 3));
  return { holdSeconds, pairs, freeSeconds: Math.min(holdSeconds, 60) };
};

/**
 * What the flow loses to a transaction that somebody else holds open, and how soon it is itself again when Postgres comes back. Each
 * disturbed stretch stands beside an undisturbed one of the same call; what counts are the medians of the pairs' ratios.
 */
export const runDisturbBench = async (options: DisturbOptions): Promise<void> => {
  const server = await startBenchServer(TENANTS);
  const stop = endWithServer(server);
  try {
    const fleet = await startContender('product', server, 'grouped');
    try {
      await fleet.run({ tasks: 40, ratePerSecond: 40 });
      await showHeld(options, server, fleet);
      await showBack(options, server, fleet);
    } finally {
      await fleet.stop();
    }
  } finally {
    await stop();
  }
};

const showHeld = async (
  options: DisturbOptions,
  server: BenchServer,
  fleet: Fleet,
): Promise<void> => {
  say(`A transaction held open for ${options.holdSeconds} s on another connection`);
  const shares: number[] = [];
  for (let pair = 1; pair <= options.pairs; pair += 1) {
    const free = await rateFor(fleet, options.freeSeconds);
    const held = await whileHeld(server, () => rateFor(fleet, options.holdSeconds));
    shares.push(held / free);
    say(`  pair ${pair}  free ${free.toFixed(1)} tasks/s, held ${held.toFixed(1)} tasks/s`);
  }
  judge('held / free', shares, HELD_SHARE_MIN);
};

/** The other transaction has written and keeps its snapshot: nothing that ends meanwhile can be cleaned away. */
const whileHeld = async (server: BenchServer, work: () => Promise<number>): Promise<number> => {
  const other = new Client({ connectionString: server.databaseUrl });
  await other.connect();
  try {
    await other.query('SET idle_in_transaction_session_timeout = 0');
    await other.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await other.query('SELECT pg_current_xact_id(), count(*) FROM tenants');
    const rate = await work();
    await other.query('ROLLBACK');
    return rate;
  } finally {
    await other.end();
  }
};

const showBack = async (
  options: DisturbOptions,
  server: BenchServer,
  fleet: Fleet,
): Promise<void> => {
  say('\nPostgres killed and started again between two bursts');
  const shares: number[] = [];
  for (let pair = 1; pair <= options.pairs; pair += 1) {
    const before = await rateFor(fleet, Math.min(options.freeSeconds, 10));
    await server.restart();
    // Within this time everybody must have found the server again.
    await wait(BACK_WITHIN_MS);
    const after = await rateFor(fleet, Math.min(options.freeSeconds, 10));
    shares.push(after / before);
    say(`  pair ${pair}  before ${before.toFixed(1)} tasks/s, after ${after.toFixed(1)} tasks/s`);
  }
  judge(`after ${BACK_WITHIN_MS / 1_000} s / before`, shares, BACK_SHARE_MIN);
};

/** Bursts one after the other for at least so long: tasks a second while there was work. */
const rateFor = async (fleet: Fleet, seconds: number): Promise<number> => {
  let tasks = 0;
  let wallMs = 0;
  while (wallMs < seconds * 1_000) {
    const result = await fleet.run({ tasks: BURST, ratePerSecond: null });
    tasks += BURST;
    wallMs += result.wallMs;
  }
  return (tasks * 1_000) / wallMs;
};

const judge = (what: string, shares: readonly number[], least: number): void => {
  const share = percentile(shares, 0.5);
  say(
    `  ${what}: ${share.toFixed(2)} (median of ${shares.length}; aim: at least ${least.toFixed(2)}: ${share >= least ? 'met' : 'MISSED'})`,
  );
};
