import { cpus } from 'node:os';

import { Client } from 'pg';

import type { Load } from './bench-protocol';
import { startBenchServer, type BenchServer } from './bench-server';
import { endWithServer } from './end-with-server';
import type { Contender, FlowOptions } from './flow-options';
import { CONCURRENCY, measure, startContender, type Measured } from './measure-contender';
import { countStatements } from './count-statements';
import { measureIdle } from './measure-idle';
import { printTables, type Series } from './print-tables';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Runs the contenders in turn on one server, round after round, and prints the medians beside those of the floor. */
export const runFlowBench = async (options: FlowOptions): Promise<void> => {
  const server = await startBenchServer(options.tenants);
  const stop = endWithServer(server);
  const admin = new Client({ connectionString: server.superuserUrl });
  // A server that is stopped by a signal takes this connection with it; whoever asks next hears of it.
  admin.on('error', () => undefined);
  try {
    await admin.connect();
    const { rows } = await admin.query<{ server_version: string }>('SHOW server_version');
    say(
      `Node ${process.version}, Postgres ${String(rows[0]?.server_version)}, ${cpus().length} cores, fsync on, ${CONCURRENCY} at once`,
    );
    const series = await runRounds(options, server, admin);
    printTables(series, options, say);
    if (options.showsStatements) await showStatements(options, server, admin);
    if (options.contenders.includes('product') && options.idleSeconds > 0)
      await showIdle(options, server, admin);
  } finally {
    await admin.end();
    await stop();
  }
};

const runRounds = async (
  options: FlowOptions,
  server: BenchServer,
  admin: Client,
): Promise<Series[]> => {
  const loads: Load[] = [
    { tasks: options.tasks, ratePerSecond: null },
    ...options.rates.map((rate) => ({ tasks: rate * options.openSeconds, ratePerSecond: rate })),
  ].filter((load) => load.tasks > 0);
  const series: Series[] = [];
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const load of loads) {
      for (const contender of options.contenders) {
        await admin.query('CHECKPOINT');
        const measured = await measure(contender, server, admin, options.processes, load);
        say(
          `  round ${round}  ${nameOf(load).padEnd(14)} ${contender.padEnd(9)} ${describe(measured)}`,
        );
        addTo(series, contender, load, measured);
      }
    }
  }
  return series;
};

const addTo = (series: Series[], contender: Contender, load: Load, measured: Measured): void => {
  const known = series.find((each) => each.contender === contender && each.load === load);
  if (known === undefined) series.push({ contender, load, measured: [measured] });
  else known.measured.push(measured);
};

export const nameOf = (load: Load): string =>
  load.ratePerSecond === null ? `burst of ${load.tasks}` : `${load.ratePerSecond}/s`;

const describe = (measured: Measured): string =>
  `${measured.tasksPerSecond.toFixed(1)} tasks/s, p50 ${measured.p50Ms.toFixed(0)} ms, p99 ${measured.p99Ms.toFixed(0)} ms, ${measured.cpuMs.toFixed(1)} CPU-ms, ${measured.commits.toFixed(1)} commits`;

const showIdle = async (
  options: FlowOptions,
  server: BenchServer,
  admin: Client,
): Promise<void> => {
  const fleet = await startContender('product', server, options.processes);
  try {
    const idle = await measureIdle(fleet, server, admin, options.idleSeconds);
    say(
      `\nIdle: ${idle.queriesPerSecond.toFixed(1)} queries/s of ${fleet.size} processes, ${idle.queriesPerSecondAndProcess.toFixed(2)} each (aim: at most 3)`,
    );
    for (const line of idle.most) say(`  ${line}`);
  } finally {
    await fleet.stop();
  }
};

const showStatements = async (
  options: FlowOptions,
  server: BenchServer,
  admin: Client,
): Promise<void> => {
  const fleet = await startContender('product', server, options.processes);
  try {
    await fleet.run({ tasks: 20, ratePerSecond: 20 });
    const counts = await countStatements(admin, server.databaseUrl, async () => {
      await fleet.run({ tasks: options.tasks, ratePerSecond: null });
    });
    say(`\nStatements of a burst of ${options.tasks}: calls and milliseconds a task`);
    for (const { calls, totalMs, query } of counts) {
      say(
        `${(calls / options.tasks).toFixed(2).padStart(8)} ${(totalMs / options.tasks).toFixed(2).padStart(8)}  ${query}`,
      );
    }
  } finally {
    await fleet.stop();
  }
};
