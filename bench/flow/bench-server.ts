import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Client } from 'pg';

import { startEmbeddedPostgres } from '../../src/adapters/postgres/embedded';
import { createConsoleLog } from '../../src/adapters/telemetry/console-log';
import { readConfig } from '../../src/runtime/config';
import { fillDatabase, migrate } from '../../src/runtime/prepare';

export interface BenchServer {
  readonly databaseUrl: string;
  readonly superuserUrl: string;
  readonly serverPid: number;
  readonly dataDir: string;
  readonly tenantId: string;
  /** What every product process is started with. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Nothing listens there, and nothing is sent: the provider is an in-process one. */
const NO_SANDBOX = 'http://127.0.0.1:9';

/** A fresh data folder and server as the product's own start makes them: fsync and all durability on. */
export const startBenchServer = async (): Promise<BenchServer> => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'aivedio-bench-'));
  const env = {
    AIVEDIO_DATA_DIR: dataDir,
    AIVEDIO_LOG_LEVEL: 'error',
    AIVEDIO_BELL: 'parent',
    AIVEDIO_SIGNING_SECRET: randomBytes(32).toString('base64url'),
    AIVEDIO_SANDBOX_URL: NO_SANDBOX,
    AIVEDIO_SANDBOX_API_KEY: randomBytes(24).toString('base64url'),
    AIVEDIO_SANDBOX_WEBHOOK_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
    AIVEDIO_SANDBOX_CONCURRENCY: '100000',
    AIVEDIO_PLATFORM_CONCURRENT_MAX: '100000',
    AIVEDIO_CALLBACK_PORT: '0',
  };
  const config = readConfig(env);
  const log = createConsoleLog(() => undefined);
  const server = await startEmbeddedPostgres({
    dataDir: path.join(dataDir, 'postgres'),
    // Loaded for the count of idle queries, off until then.
    settings: {
      shared_preload_libraries: 'pg_stat_statements',
      'pg_stat_statements.track': 'none',
    },
    log,
  });
  const stop = async (): Promise<void> => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    await migrate(server.url, log);
    const first = await fillDatabase(config, server.url, NO_SANDBOX, log);
    if (first === null) throw new Error('The data folder was not fresh');
    await liftLimits(server.url, first.tenantId);
    return {
      databaseUrl: server.url,
      superuserUrl: server.superuserUrl,
      serverPid: server.pid,
      dataDir,
      tenantId: first.tenantId,
      env: { ...env, AIVEDIO_DATABASE_URL: server.url },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

/** Slots and the queue are taken and counted as ever; only nobody has to wait for them. */
const liftLimits = async (databaseUrl: string, tenantId: string): Promise<void> => {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(
      'UPDATE tenants SET in_flight_max = 100000, queued_max = 100000 WHERE id = $1',
      [tenantId],
    );
    await client.query(
      `INSERT INTO credit_ledger (id, tenant_id, kind, amount_micros, available_delta, held_delta, unit, business_key, reason, actor, created_at)
       VALUES (gen_random_uuid(), $1, 'GRANT', $2, $2, 0, 'MICRO_CREDIT', 'grant:bench', 'bench', 'bench', $3)`,
      [tenantId, CREDITS_MICROS, new Date()],
    );
    await client.query(
      'UPDATE accounts SET available_micros = available_micros + $2 WHERE tenant_id = $1',
      [tenantId, CREDITS_MICROS],
    );
  } finally {
    await client.end();
  }
};

const CREDITS_MICROS = '1000000000000';
