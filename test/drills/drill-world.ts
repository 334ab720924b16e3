import { mkdtemp, chmod, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { Pool } from 'pg';

import { locateMediaTools } from '../../src/adapters/media/locate-ffmpeg';
import { createPartitionStore } from '../../src/adapters/postgres/stores/partition-store';
import { createGeneration } from '../../src/flow/create/create-generation';
import { CHECKS } from '../../src/flow/verify/check-list';
import type { VerifyReport } from '../../src/flow/verify/verify-facts';
import { inheritedEnvironment, readConfig } from '../../src/runtime/config';
import { createContainer, type Container } from '../../src/runtime/container';
import { freePort } from '../../src/runtime/free-port';
import { fillDatabase, migrate } from '../../src/runtime/prepare';
import { projectRoot } from '../../src/runtime/project-root';
import { createSupervisor } from '../../src/runtime/supervisor';
import { verifyStored } from '../../src/runtime/verify';
import { createRecordingLog } from '../contract/recording-log';
import { startSandbox, type SandboxProcess } from '../support/sandbox-process';

const LOCAL = '127.0.0.1';
/** All but one: the provider goes on while the product stands still, and lies in the same folder. */
const INVARIANTS = CHECKS.map(({ name }) => name).filter(
  (name) => name !== 'no_leftover_processes',
);
const IN_FLIGHT = 4;
/** All but the media worker, which for most outputs costs no processor time here. */
const WORKERS = [
  ...['asset-validator', 'outbox-relay', 'scheduler', 'provider', 'callback', 'poller', 'reducer'],
  ...['output-fetch', 'notification', 'billing', 'reconciler'],
];

/** Provider, objects and configuration, which outlive any one database. */
export interface DrillWorld {
  readonly dir: string;
  readonly sandbox: SandboxProcess;
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** The product's processes on one database. */
export interface DrillProduct {
  readonly pool: Pool;
  readonly env: Readonly<Record<string, string>>;
  readonly container: Container;
  start(): Promise<void>;
  /** At once, and in the middle of whatever they do. */
  kill(): Promise<void>;
  /** `slowly`: the provider takes its time to make each job, and no more of them are under way than there are places. */
  create(count: number, how?: 'slowly'): Promise<readonly string[]>;
  countByStatus(): Promise<Readonly<Record<string, number>>>;
  verify(settleMs?: number): Promise<VerifyReport>;
  close(): Promise<void>;
}

export const openDrillWorld = async (): Promise<DrillWorld> => {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'aivedio-drill-'));
  // Postgres, which must not be root, enters it too.
  await chmod(dir, 0o755);
  const dataDir = path.join(dir, 'data');
  const sandbox = await startSandbox({
    dataDir: path.join(dataDir, 'sandbox'),
    concurrency: 100,
  });
  const tools = await locateMediaTools({ cacheDir: path.join(dir, 'tools') });
  const callbackPort = await freePort(LOCAL, 0);
  return {
    dir,
    sandbox,
    env: {
      AIVEDIO_DATA_DIR: dataDir,
      AIVEDIO_SIGNING_SECRET: 'D'.repeat(43),
      AIVEDIO_SANDBOX_URL: sandbox.url,
      AIVEDIO_SANDBOX_API_KEY: sandbox.apiKey,
      AIVEDIO_SANDBOX_WEBHOOK_SECRET: sandbox.webhookSecret,
      AIVEDIO_SANDBOX_CONCURRENCY: String(IN_FLIGHT),
      AIVEDIO_CALLBACK_PORT: String(callbackPort),
      AIVEDIO_CALLBACK_URL: `http://${LOCAL}:${callbackPort}`,
      AIVEDIO_FFMPEG: tools.ffmpeg,
      AIVEDIO_FFPROBE: tools.ffprobe,
      AIVEDIO_BUS_LEASE_MS: '3000',
      AIVEDIO_SUBMIT_LEASE_MS: '5000',
      AIVEDIO_STUCK_AFTER_MS: '8000',
      AIVEDIO_POLL_MS_FIRST: '1500',
      AIVEDIO_LOG_LEVEL: 'warn',
      AIVEDIO_POOL_MAX: '6',
    },
    close: async () => {
      await sandbox.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
};

/** Migrates, and fills what must stand in a database; a restored one has all of it. */
export const openDrillProduct = async (
  world: DrillWorld,
  databaseUrl: string,
): Promise<DrillProduct> => {
  const env = { ...world.env, AIVEDIO_DATABASE_URL: databaseUrl };
  const config = readConfig(env);
  const log = createRecordingLog();
  await migrate(databaseUrl, log);
  await fillDatabase(config, databaseUrl, world.sandbox.url, log);
  const pool = new Pool({ connectionString: databaseUrl, max: 3 });
  pool.on('error', () => undefined);
  // The sandbox lists a job from the moment it has it: an absence needs no long proof here.
  await pool.query('UPDATE providers SET create_settles_ms = 4000, absence_grace_ms = 1500');
  const container = createContainer(config, 'drill', log);
  await createPartitionStore(pool).ensureDays(container.context.clock.now(), 2);
  const supervisor = createSupervisor({
    bells: { attach: () => () => undefined },
    logDir: path.join(config.dataDir, 'logs'),
    log,
    inherited: inheritedEnvironment(),
    killAfterMs: 20_000,
  });
  const dist = path.join(projectRoot(), 'dist');
  let running: string[] = [];
  const kill = async (): Promise<void> => {
    await Promise.all(running.map((name) => supervisor.halt(name, 'SIGKILL')));
    running = [];
  };
  let keys = 0;
  let isClosed = false;
  const seed = container.context.ids.next(container.context.clock.now());
  return {
    pool,
    env,
    container,
    kill,
    start: async () => {
      running = ['workers', 'media'];
      await Promise.all([
        supervisor.run({
          name: 'workers',
          script: path.join(dist, 'src/worker-group.js'),
          args: ['workers', ...WORKERS],
          env,
          workers: WORKERS,
        }),
        supervisor.run({
          name: 'media',
          script: path.join(dist, 'chaos/media-process.js'),
          args: [],
          env,
        }),
      ]);
    },
    create: (count, how) =>
      Promise.all(
        Array.from({ length: count }, async () => {
          keys += 1;
          return createOne(container, pool, `${seed}-${keys}`, how === undefined ? {} : SLOWLY);
        }),
      ),
    countByStatus: async () => {
      const { rows } = await pool.query<{ status: string; count: number }>(
        'SELECT status, count(*)::int AS count FROM generation_tasks GROUP BY status',
      );
      return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
    },
    verify: (settleMs = 0) =>
      verifyStored({ config, log, settleMs, only: INVARIANTS, canaries: [], onBytes: null }),
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      await kill();
      await supervisor.stop();
      await container.close();
      await pool.end();
    },
  };
};

/** Each as long to be made as to run: twice the time that it keeps its place. */
const SLOWLY = { fault: ['slow_create', 'slow'], slow_ms: 2_500 };

const createOne = async (
  container: Container,
  pool: Pool,
  key: string,
  providerOptions: Readonly<Record<string, unknown>>,
): Promise<string> => {
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM tenants ORDER BY id LIMIT 1');
  const outcome = await createGeneration(container.context, container.moderation, {
    tenantId: rows[0]?.id ?? '',
    ...{ projectId: null, apiKeyId: null, quoteId: null, maxMicros: null },
    idempotencyKey: key,
    request: {
      model: 'sandbox-video-1',
      prompt: 'waves on a beach',
      durationMs: 2_000,
      resolution: '480p',
      providerOptions,
    },
    traceId: key,
  });
  if (outcome.kind !== 'CREATED') throw new Error(`Refused: ${JSON.stringify(outcome)}`);
  return outcome.task.id;
};
