import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { Client } from 'pg';

import { startEmbeddedPostgres } from '../../src/adapters/postgres/embedded';
import { isProcessAlive } from '../../src/adapters/postgres/embedded/start-lock';
import { createConsoleLog } from '../../src/adapters/telemetry/console-log';
import { readConfig } from '../../src/runtime/config';
import { fillDatabase, migrate } from '../../src/runtime/prepare';

export interface BenchServer {
  readonly databaseUrl: string;
  readonly superuserUrl: string;
  readonly serverPid: number;
  readonly dataDir: string;
  readonly tenantIds: readonly string[];
  /** What every product process is started with. */
  readonly env: Readonly<Record<string, string>>;
  /** Kills the server as a power cut would, and starts it again at the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Nothing listens there, and nothing is sent: the provider is an in-process one. */
const NO_SANDBOX = 'http://127.0.0.1:9';

/** A fresh data folder and server as the product's own start makes them: fsync and all durability on. */
export const startBenchServer = async (tenants: number): Promise<BenchServer> => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'aivedio-bench-'));
  // Else a server that must not run as root could not enter it, and would keep its data elsewhere.
  await chmod(dataDir, 0o755);
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
  const startServer = (port?: number) =>
    startEmbeddedPostgres({
      dataDir: path.join(dataDir, 'postgres'),
      // Loaded for the count of idle queries, off until then.
      settings: {
        shared_preload_libraries: 'pg_stat_statements',
        'pg_stat_statements.track': 'none',
      },
      log,
      ...(port === undefined ? {} : { port }),
    });
  let server = await startServer();
  const stop = async (): Promise<void> => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    await migrate(server.url, log);
    const first = await fillDatabase(config, server.url, NO_SANDBOX, log);
    if (first === null) throw new Error('The data folder was not fresh');
    const tenantIds = await makeTenants(server.url, first.tenantId, tenants);
    return {
      databaseUrl: server.url,
      superuserUrl: server.superuserUrl,
      serverPid: server.pid,
      dataDir,
      tenantIds,
      env: { ...env, AIVEDIO_DATABASE_URL: server.url },
      restart: async () => {
        process.kill(server.pid, 'SIGKILL');
        while (isProcessAlive(server.pid)) await wait(50);
        server = await startServer(server.port);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

/**
 * Makes tenants like the first one, rich and without limits: slots, queue and credits are taken and counted as ever; only nobody has
 * to wait for them.
 */
const makeTenants = async (
  databaseUrl: string,
  firstId: string,
  count: number,
): Promise<string[]> => {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('UPDATE tenants SET in_flight_max = 100000, queued_max = 100000');
    const { rows } = await client.query<{ id: string }>(
      `INSERT INTO tenants
       SELECT (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'name', 'Tenant ' || n))).*
       FROM tenants t, generate_series(2, $2) AS n WHERE t.id = $1
       RETURNING id`,
      [firstId, count],
    );
    const tenantIds = [firstId, ...rows.map((row) => row.id)];
    await client.query(
      `INSERT INTO credit_ledger (id, tenant_id, kind, amount_micros, available_delta, held_delta, unit, business_key, reason, actor, created_at)
       SELECT gen_random_uuid(), t, 'GRANT', $2::bigint, $2::bigint, 0, 'MICRO_CREDIT', 'grant:bench:' || t, 'bench', 'bench', $3
       FROM unnest($1::uuid[]) AS t`,
      [tenantIds, CREDITS_MICROS, new Date()],
    );
    await client.query(
      `INSERT INTO accounts (tenant_id, available_micros, held_micros, version, updated_at)
       SELECT t, $2::bigint, 0, 1, $3 FROM unnest($1::uuid[]) AS t
       ON CONFLICT (tenant_id) DO UPDATE SET available_micros = accounts.available_micros + excluded.available_micros`,
      [tenantIds, CREDITS_MICROS, new Date()],
    );
    return tenantIds;
  } finally {
    await client.end();
  }
};

const CREDITS_MICROS = '1000000000000';
