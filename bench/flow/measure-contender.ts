import { setTimeout as wait } from 'node:timers/promises';

import type { Client } from 'pg';

import { WORKERS } from '../../src/domain/stages';
import { planProcesses, type PlannedProcess } from '../../src/runtime/worker-groups';
import type { Load } from './bench-protocol';
import type { BenchServer } from './bench-server';
import { startFleet, type Fleet, type Member } from './contender-fleet';
import type { Contender, FlowOptions } from './flow-options';
import { readServer, serverCpuMs } from './server-meter';

/** One contender under one load, all figures for one task. */
export interface Measured {
  readonly tasksPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMs: number;
  readonly serverCpuMs: number | null;
  readonly commits: number;
  readonly walSyncs: number;
  readonly walBytes: number;
}

/** Lanes of the floor, jobs of graphile-worker at once, and creates of the product in flight. */
export const CONCURRENCY = 16;

const WARM_UP: Load = { tasks: 40, ratePerSecond: 40 };

/** Backends hand in their counts when they end; the server takes a moment to add them up. */
const SETTLE_MS = 1_500;

export const startContender = (
  contender: Contender,
  server: BenchServer,
  processes: FlowOptions['processes'],
): Promise<Fleet> => {
  const setup = {
    databaseUrl: server.databaseUrl,
    dataDir: server.dataDir,
    concurrency: CONCURRENCY,
  };
  if (contender !== 'product') return startFleet([{ script: `${contender}-process.js` }], setup);
  const workers = PLANS[processes].map((planned): Member => ({
    script: 'product-process.js',
    args: [planned.name, ...planned.workers],
    ...(planned.workers.length === 1 ? {} : { env: { AIVEDIO_POOL_MAX: '16' } }),
  }));
  const api = { script: 'product-process.js', args: ['api', ...server.tenantIds] };
  return startFleet([api, ...workers], setup, server.env);
};

const PLANS: Readonly<Record<FlowOptions['processes'], readonly PlannedProcess[]>> = {
  each: planProcesses('separate', 1),
  grouped: planProcesses('grouped', 1),
  one: [{ name: 'all', workers: WORKERS }],
};

/** Starts the contender's processes, warms them up, measures one load, and stops them again. */
export const measure = async (
  contender: Contender,
  server: BenchServer,
  admin: Client,
  processes: FlowOptions['processes'],
  load: Load,
): Promise<Measured> => {
  const begun = await readServer(admin);
  const fleet = await startContender(contender, server, processes);
  let measured;
  try {
    await fleet.run(WARM_UP);
    const before = { cpuMs: await fleet.cpuMs(), serverCpuMs: serverCpuMs(server.serverPid) };
    const result = await fleet.run(load);
    await wait(SETTLE_MS);
    measured = {
      before,
      result,
      cpuMs: await fleet.cpuMs(),
      serverCpuMs: serverCpuMs(server.serverPid),
    };
  } finally {
    await fleet.stop();
  }
  await wait(SETTLE_MS);
  const ended = await readServer(admin);
  const { before, result } = measured;
  const all = load.tasks + WARM_UP.tasks;
  return {
    tasksPerSecond: (load.tasks * 1_000) / result.wallMs,
    p50Ms: percentile(result.latenciesMs, 0.5),
    p99Ms: percentile(result.latenciesMs, 0.99),
    cpuMs: (measured.cpuMs - before.cpuMs) / load.tasks,
    serverCpuMs:
      measured.serverCpuMs === null || before.serverCpuMs === null
        ? null
        : (measured.serverCpuMs - before.serverCpuMs) / load.tasks,
    // From the start of the processes to their end: living backends keep their counts for up to ten seconds.
    commits: (ended.commits - begun.commits) / all,
    walSyncs: (ended.walSyncs - begun.walSyncs) / all,
    walBytes: (ended.walBytes - begun.walBytes) / all,
  };
};

export const percentile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(Math.ceil(sorted.length * share), sorted.length) - 1] ?? Number.NaN;
};
