import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

import type { QueryResultRow } from 'pg';

import type { WorkerName } from '../src/domain/stages';
import type { FaultKind } from './fault-kinds';
import type { PlannedFault } from './make-plan';
import type { World } from './open-world';
import { releaseByStaleToken } from './slots-of-world';
import type { Toxic } from './toxiproxy';

const runFile = promisify(execFile);

/** What a fault saw happen that no row will tell later. */
export interface FaultFacts {
  /** Postgres went away while a transaction that had written was open. */
  stoppedInCommit: number;
  /** An old token of a living lease was tried, and changed nothing. */
  staleTokensRefused: number;
  staleTokensTaken: number;
}

type Fault = (world: World, planned: PlannedFault, facts: FaultFacts) => Promise<void>;

/** Does one fault and undoes it; resolves when it is over. */
export const doFault: Fault = (world, planned, facts) =>
  FAULTS[planned.kind](world, planned, facts);

const signal = (world: World, name: string, what: NodeJS.Signals): void => {
  const pid = world.platform.supervisor.pidOf(name);
  if (pid !== null) process.kill(pid, what);
};

const PAUSED_MS = 7_000;
const SHORT_MS = 4_000;
const CLOCK_OFF_MS = 30_000;
/** Those whose work is worth a second process; a callback server would need a port of its own. */
const PAUSABLE: readonly WorkerName[] = [
  'provider',
  'reducer',
  'scheduler',
  'output-fetch',
  'media',
];

const pausable = (planned: PlannedFault): WorkerName =>
  PAUSABLE[Math.floor(planned.dice * PAUSABLE.length)] ?? 'provider';

const withSpare = async (
  world: World,
  worker: WorkerName,
  env: Readonly<Record<string, string>>,
  ms: number,
): Promise<void> => {
  const spare = await world.startSpare(worker, env);
  await wait(ms);
  const gone = new Promise((resolve) => spare.once('exit', resolve));
  spare.kill('SIGTERM');
  await gone;
};

const LOOK_MS = 30;
const LOOKS_MAX = 250;

/** Waits for the right moment; null when it does not come. */
const untilRow = async <Row extends QueryResultRow>(
  world: World,
  sql: string,
): Promise<Row | null> => {
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    const { rows } = await world.pool.query<Row>(sql);
    if (rows[0] !== undefined) return rows[0];
    await wait(LOOK_MS);
  }
  return null;
};

/** The worst moment to die in: a create is under way, and nobody knows what will come of it. */
const killWhileSending: Fault = async (world) => {
  await world.queueFaults([{ fault: ['slow', 'callback_never'], slow_ms: 6_000 }]);
  // One that has been out for a while: the others are answered, or told of by a callback.
  await untilRow(
    world,
    `SELECT id FROM task_attempts
     WHERE status = 'SENDING' AND sent_at < clock_timestamp() - interval '1 second' LIMIT 1`,
  );
  signal(world, 'provider', 'SIGKILL');
};

const tryStaleToken: Fault = async (world, _, facts) => {
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    // Where the slots are may be away for another fault.
    const released = await releaseByStaleToken(world).catch(() => null);
    if (released === null) {
      await wait(LOOK_MS);
      continue;
    }
    if (released) facts.staleTokensTaken += 1;
    else facts.staleTokensRefused += 1;
    return;
  }
};

/** Ends the server in the moment when somebody has written and not yet committed. */
const endPostgres =
  (how: NodeJS.Signals): Fault =>
  async (world, _, facts) => {
    const pid = await world.postmaster();
    for (let tries = 0; tries < 400; tries += 1) {
      const { rows } = await world.pool.query<{ writing: number }>(
        `SELECT count(*)::int AS writing FROM pg_stat_activity
         WHERE backend_xid IS NOT NULL AND pid <> pg_backend_pid()`,
      );
      if ((rows[0]?.writing ?? 0) === 0) continue;
      facts.stoppedInCommit += 1;
      break;
    }
    process.kill(pid, how);
    await untilAnswers(world);
  };

const untilAnswers = async (world: World): Promise<void> => {
  for (let tries = 0; tries < 600; tries += 1) {
    if (
      await world.pool.query('SELECT 1').then(
        () => true,
        () => false,
      )
    )
      return;
    await wait(100);
  }
  throw new Error('Postgres did not come back within a minute');
};

const withToxics =
  (toxics: readonly Toxic[], ms: number): Fault =>
  async (world, planned) => {
    if (world.toxiproxy === null) throw new Error('There is no toxiproxy');
    const names =
      planned.dice < 0.4
        ? ['postgres']
        : planned.dice < 0.8
          ? ['provider']
          : ['postgres', 'provider'];
    for (const name of names) await world.toxiproxy.poison(name, toxics);
    await wait(ms);
    for (const name of names) await world.toxiproxy.cure(name);
  };

const FILL_BYTES = 1_500_000;

/** A disk of its own of 2 MB over the scratch folder, filled to the last byte. */
const fillScratch: Fault = async (world) => {
  const folder = path.join(world.dataDir, 'temp');
  await mkdir(folder, { recursive: true });
  await runFile('mount', ['-t', 'tmpfs', '-o', 'size=1500k', 'tmpfs', folder]);
  try {
    await writeFile(path.join(folder, 'filler'), Buffer.alloc(FILL_BYTES)).catch(
      (error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      },
    );
    await wait(SHORT_MS);
  } finally {
    // Lazily: a tool may have its folder open.
    await runFile('umount', ['-l', folder]);
  }
};

/** An operator is told whether it was done; until then the order is given again. */
const order = async (
  world: World,
  name: 'providerPause' | 'providerResume',
  input: Readonly<Record<string, string>>,
): Promise<void> => {
  const type = `${name[0]?.toUpperCase() ?? ''}${name.slice(1)}Input`;
  const query = `mutation Order($input: ${type}!) { ${name}(input: $input) { userErrors { code } } }`;
  let cause: unknown;
  for (let tries = 0; tries < 60; tries += 1) {
    const answer = await world.operator
      .request<Record<string, { userErrors: readonly { code: string }[] } | null>>(query, { input })
      .catch((error: unknown) => {
        cause = error;
        return null;
      });
    if (answer?.data?.[name] !== undefined && answer.data[name] !== null) return;
    await wait(SHORT_MS / 8);
  }
  throw new Error(`${name} was not done within ${(60 * SHORT_MS) / 8 / 1_000} s`, { cause });
};

const repeatOutbox: Fault = async (world) => {
  await world.pool.query(
    `UPDATE outbox_events SET status = 'PENDING', published_at = NULL
     WHERE id IN (
       SELECT o.id FROM outbox_events o
       WHERE o.status = 'PUBLISHED' AND EXISTS (SELECT 1 FROM inbox_dedup i WHERE i.event_id = o.id)
       ORDER BY o.id DESC LIMIT 40)`,
  );
};

/** Killed, missed for a moment, and started again on the same port. */
const away =
  (
    serverOf: (backEnds: NonNullable<World['backEnds']>) => {
      kill(signal: NodeJS.Signals): Promise<void>;
      start(): Promise<void>;
    },
  ): Fault =>
  async ({ backEnds }) => {
    if (backEnds === null) throw new Error('There are no servers to kill');
    const server = serverOf(backEnds);
    await server.kill('SIGKILL');
    await wait(SHORT_MS);
    await server.start();
  };

const FAULTS: Readonly<Record<FaultKind, Fault>> = {
  worker_killed: async (world, planned, facts) => {
    signal(world, planned.worker, 'SIGKILL');
    await killWhileSending(world, planned, facts);
  },
  api_killed: async (world) => signal(world, 'api', 'SIGKILL'),
  worker_drained: async (world, { worker }) => signal(world, worker, 'SIGTERM'),
  worker_paused: async (world, planned, facts) => {
    const worker = pausable(planned);
    const pid = world.platform.supervisor.pidOf(worker);
    if (pid === null) return;
    process.kill(pid, 'SIGSTOP');
    try {
      await withSpare(world, worker, {}, PAUSED_MS);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await tryStaleToken(world, planned, facts);
  },
  postgres_stopped: endPostgres('SIGQUIT'),
  postgres_killed: endPostgres('SIGKILL'),
  connections_cut: async (world) => {
    await world.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
  },
  clock_moved: (world, planned) =>
    withSpare(
      world,
      pausable(planned),
      { AIVEDIO_CLOCK_OFFSET_MS: String(planned.dice < 0.5 ? CLOCK_OFF_MS : -CLOCK_OFF_MS) },
      SHORT_MS,
    ),
  scratch_full: fillScratch,
  provider_refusing: (world) => world.queueFaults(Array.from({ length: 8 }, () => 'reject_503')),
  provider_slow: (world) =>
    world.queueFaults(Array.from({ length: 6 }, () => ({ fault: 'slow', slow_ms: 4_000 }))),
  answers_lost: (world) => world.queueFaults(Array.from({ length: 5 }, () => 'answer_lost')),
  provider_killed: async (world) => signal(world, 'sandbox', 'SIGKILL'),
  provider_paused: async (world) => {
    await order(world, 'providerPause', { providerId: 'sandbox', reason: 'chaos' });
    await wait(SHORT_MS);
    await order(world, 'providerResume', { providerId: 'sandbox', reason: 'chaos' });
  },
  callbacks_blocked: async (world) => {
    world.callbacks.block(true);
    await wait(PAUSED_MS);
    world.callbacks.block(false);
  },
  callbacks_replayed: async (world) => {
    await world.callbacks.replay(40);
  },
  outbox_repeated: repeatOutbox,
  broker_killed: away((backEnds) => backEnds.rocketmq),
  redis_killed: away((backEnds) => backEnds.redis),
  redis_flushed: async (world) => world.backEnds?.redis.flush(),
  objects_stopped: away((backEnds) => backEnds.s3),
  network_latency: withToxics(
    [{ type: 'latency', stream: 'downstream', attributes: { latency: 300, jitter: 150 } }],
    SHORT_MS,
  ),
  network_reset: withToxics(
    [{ type: 'reset_peer', stream: 'downstream', attributes: { timeout: 100 } }],
    SHORT_MS / 2,
  ),
  network_half_open: withToxics(
    [
      { type: 'timeout', stream: 'downstream', attributes: { timeout: 0 } },
      { type: 'timeout', stream: 'upstream', attributes: { timeout: 0 } },
    ],
    SHORT_MS,
  ),
};

/** Whether a disk can be mounted here: root, and not forbidden to. */
export const canMount = async (folder: string): Promise<boolean> => {
  await mkdir(folder, { recursive: true });
  try {
    await runFile('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]);
    await runFile('umount', [folder]);
    return (await readFile('/proc/mounts', 'utf8')).includes(folder) === false;
  } catch {
    return false;
  }
};
