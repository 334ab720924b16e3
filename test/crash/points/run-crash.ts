import { parseArgs } from 'node:util';

import { CRASH_POINTS, type CrashPoint } from '../../../src/ports/crash-points';
import { startCrashProduct, type CrashProduct } from './crash-product';
import { askVerify, checkCounts, findLeft } from './judge';
import { PLANS, type Plan } from './plan';
import { killAt, type Kill } from './run-lane';

const USAGE = `Usage: npm run crash -- [options]
  --sampled       each point once, on its first hit
  --only WORDS    only points that begin with one of these, as submit,cancel.before_http
  --hits N        up to which hit (3)
  --lanes N       processes that are killed at the same time (4)`;

interface Options {
  readonly hits: number;
  readonly lanes: number;
  readonly points: readonly CrashPoint[];
}

const readOptions = (args: readonly string[]): Options => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sampled: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      hits: { type: 'string', default: '3' },
      lanes: { type: 'string', default: '4' },
    },
  });
  const words = values.only.split(',');
  const points = CRASH_POINTS.filter((point) => words.some((word) => point.startsWith(word)));
  const [hits, lanes] = [values.sampled ? 1 : Number(values.hits), Number(values.lanes)];
  if (points.length === 0 || !(hits >= 1) || !(lanes >= 1)) throw new Error(USAGE);
  return { hits, lanes, points };
};

interface Task {
  readonly point: CrashPoint;
  readonly plan: Plan;
  readonly hit: number;
}

/** One lane for each process: its points one after the other, beside the lanes of other processes. */
const lanesOf = (tasks: readonly Task[]): Task[][] => {
  const lanes = new Map<string, Task[]>();
  for (const task of tasks) {
    lanes.set(task.plan.process, [...(lanes.get(task.plan.process) ?? []), task]);
  }
  return [...lanes.values()].sort((a, b) => b.length - a.length);
};

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const describe = (kill: Kill): string => {
  const name = `${kill.point}@${kill.hit}`.padEnd(48);
  const of = kill.process.padEnd(16);
  const end =
    kill.diedAfterMs === null
      ? 'NEVER HIT'
      : `ready after ${String(kill.restartMs).padStart(5)} ms, all ended after ${String(kill.recoveryMs).padStart(6)} ms`;
  return [`${name} ${of} ${end}`, ...kill.wrong.map((wrong) => `    WRONG ${wrong}`)].join('\n');
};

const runTasks = async (
  product: CrashProduct,
  tasks: readonly Task[],
  parallel: number,
): Promise<Kill[]> => {
  const kills: Kill[] = [];
  const queue = lanesOf(tasks);
  const work = async (): Promise<void> => {
    for (let lane = queue.shift(); lane !== undefined; lane = queue.shift()) {
      for (const { point, hit, plan } of lane) {
        const kill = await killAt(product, point, hit, plan);
        kills.push(kill);
        print(describe(kill));
      }
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return kills;
};

interface Result {
  readonly kills: readonly Kill[];
  readonly left: readonly string[];
}

/** One product from its start to its stop. */
const runProduct = async (
  childEnv: Readonly<Record<string, Readonly<Record<string, string>>>>,
  tasks: readonly Task[],
  options: Options,
): Promise<Result> => {
  if (tasks.length === 0) return { kills: [], left: [] };
  const product = await startCrashProduct(childEnv);
  running = product;
  try {
    const kills = await runTasks(product, tasks, options.lanes);
    const left = [...(await findLeft(product)), ...(await askVerify(product))];
    for (const each of left) print(`WRONG at the end: ${each}`);
    return { kills, left };
  } finally {
    running = null;
    await product.stop();
  }
};

let running: CrashProduct | null = null;

/** The embedded server would outlive this program. */
const stopOn = (signal: 'SIGINT' | 'SIGTERM'): void => {
  process.once(signal, () => {
    void (running?.stop() ?? Promise.resolve()).finally(() => process.exit(1));
  });
};

const main = async (): Promise<number> => {
  const options = readOptions(process.argv.slice(2));
  const begunMs = Date.now();
  const tasks = options.points.flatMap((point) =>
    Array.from({ length: options.hits }, (_, index) => ({
      point,
      plan: PLANS[point],
      hit: index + 1,
    })),
  );
  const results = [
    await runProduct(
      {},
      tasks.filter(({ plan }) => plan.needsRelay !== true),
      options,
    ),
    await runProduct(
      { 'outbox-relay': { AIVEDIO_OUTBOX_MOVER: 'relay' } },
      tasks.filter(({ plan }) => plan.needsRelay === true),
      options,
    ),
  ];
  return report(results, options, Date.now() - begunMs);
};

const report = (results: readonly Result[], options: Options, tookMs: number): number => {
  const kills = results.flatMap((result) => result.kills);
  const hit = kills.filter((kill) => kill.diedAfterMs !== null);
  const missed = kills.filter((kill) => kill.diedAfterMs === null);
  const violations = [
    ...kills.flatMap((kill) => kill.wrong),
    ...results.flatMap((result) => result.left),
  ];
  const ends = new Map<string, number>();
  for (const { kind, status } of kills.flatMap((kill) => kill.ends)) {
    const key = `${kind} ${status}`;
    ends.set(key, (ends.get(key) ?? 0) + 1);
  }
  const slowest = hit.map((kill) => kill.recoveryMs).sort((a, b) => a - b);
  print('');
  print(`points     ${options.points.length}, each on hits 1 to ${options.hits}`);
  print(`kills      ${hit.length} with SIGKILL, ${missed.length} never hit`);
  print(
    `recovery   median ${seconds(slowest[Math.floor(slowest.length / 2)] ?? 0)}, longest ${seconds(slowest.at(-1) ?? 0)}`,
  );
  print(`ends       ${[...ends].map(([end, count]) => `${count} ${end}`).join(', ')}`);
  print(
    `invariants ${checkCounts.eachKill} checked after each kill, ${checkCounts.atTheEnd} by verify at the end`,
  );
  print(`violations ${violations.length}`);
  print(`time       ${seconds(tookMs)}`);
  return violations.length + missed.length === 0 ? 0 : 1;
};

stopOn('SIGINT');
stopOn('SIGTERM');
main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${String((error as Error).stack ?? error)}\n`);
    process.exit(1);
  },
);
