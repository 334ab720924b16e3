import { spawn, type ChildProcess } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Pool } from 'pg';

import { createIdSource } from '../src/adapters/ids/uuid-ids';
import { createApiKeys } from '../src/adapters/postgres/api-keys';
import { createPrisma } from '../src/adapters/postgres/prisma-client';
import { createGraphqlClient, type GraphqlClient } from '../src/client/graphql-client';
import type { Log } from '../src/ports/log';
import type { WorkerName } from '../src/domain/stages';
import type { BackEnds } from '../cluster/back-ends';
import type { Config } from '../src/runtime/config';
import { projectRoot } from '../src/runtime/project-root';
import { startCallbackRelay, type CallbackRelay } from './callback-relay';
import type { ChaosOptions } from './chaos-options';
import { CLIENTS } from './make-plan';
import { openProductOfMany } from './product-of-many';
import { openProductOfOne, portOf, type ProductPlatform, type Setting } from './product-of-one';
import { startToxiproxy, type Toxiproxy } from './toxiproxy';

/** The product as its users run it, every worker a process of its own, and what stands between it and the rest. */
export interface World {
  readonly dataDir: string;
  readonly config: Config;
  readonly platform: ProductPlatform;
  /** Null where Postgres carries all of it. */
  readonly backEnds: BackEnds | null;
  /** Straight to Postgres, past the proxy; loses its connections when Postgres does, and finds new ones. */
  readonly pool: Pool;
  readonly clients: readonly GraphqlClient[];
  readonly operator: GraphqlClient;
  readonly callbacks: CallbackRelay;
  readonly toxiproxy: Toxiproxy | null;
  /** Answers the process ids of the database server. */
  postmaster(): Promise<number>;
  /** Another process of a worker, as on another machine. */
  startSpare(worker: WorkerName, env: Readonly<Record<string, string>>): Promise<ChildProcess>;
  queueFaults(next: readonly unknown[]): Promise<void>;
  stopProduct(): Promise<void>;
  close(keep: boolean): Promise<void>;
}

const LOCAL = '127.0.0.1';

/** Leases, polls and sweeps short enough that what a fault holds up comes back within a minute. */
const IMPATIENT = {
  AIVEDIO_BUS_LEASE_MS: '3000',
  AIVEDIO_SUBMIT_LEASE_MS: '5000',
  AIVEDIO_STUCK_AFTER_MS: '8000',
  AIVEDIO_POLL_MS_FIRST: '1500',
  AIVEDIO_POLL_MS_MAX: '4000',
  AIVEDIO_CIRCUIT_OPEN_MS: '2000',
  // A 429 shrinks an account for this long: at the default a few of them would hold up the whole run.
  AIVEDIO_THROTTLE_MS: '2000',
  AIVEDIO_LEFTOVER_AGE_MS: '45000',
  AIVEDIO_RECOVERY_WINDOW_MS: '40000',
  // A slot whose attempt was never committed, since Postgres went away between the two, is given up with its lease.
  AIVEDIO_SLOT_TTL_MS: '20000',
} as const;

export const openWorld = async (
  options: ChaosOptions,
  say: (line: string) => void,
): Promise<World> => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'aivedio-chaos-'));
  // Else a server that must not run as root could not enter it.
  await chmod(dataDir, 0o755);
  const toxiproxy = await startToxiproxy(say);
  const callbacks = await startCallbackRelay();
  const proxied = toxiproxy === null ? null : await proxyPorts(toxiproxy);
  const setting: Setting = {
    ...{ dataDir, toxiproxy, proxied, say },
    log: quiet(say),
    env: {
      ...IMPATIENT,
      AIVEDIO_DATA_DIR: dataDir,
      AIVEDIO_DRAIN_MS: '5000',
      AIVEDIO_SANDBOX_CONCURRENCY: String(Math.max(60, Math.ceil(options.tasks / 8))),
    },
    callbackUrl: callbacks.url,
  };
  const product = options.cluster
    ? await openProductOfMany(setting)
    : await openProductOfOne(setting);
  const { config, platform } = product;
  callbacks.leadTo(platform.callbackUrl);
  const pool = new Pool({ connectionString: platform.databaseUrl, max: 3 });
  pool.on('error', () => undefined);
  if (toxiproxy !== null && proxied !== null) {
    await toxiproxy.leadTo('provider', portOf(platform.sandboxUrl));
    await pool.query('UPDATE provider_accounts SET base_url = $1', [
      `http://${LOCAL}:${proxied.provider}`,
    ]);
  }
  // The provider shows a job as soon as it is made: absent for some seconds is absent.
  await pool.query(
    'UPDATE providers SET create_settles_ms = 12000, absence_grace_ms = 6000, unknown_window_ms = 90000',
  );
  await pool.query('UPDATE tenants SET in_flight_max = 10000, queued_max = 100000');
  const keys = await makeClients(platform, pool);
  const spares = new Set<ChildProcess>();
  const stopProduct = once(async () => {
    for (const spare of spares) spare.kill('SIGKILL');
    await product.stopProcesses();
  });
  const clients = keys.map((key) => createGraphqlClient(platform.publicUrl, key));
  const operator = createGraphqlClient(platform.publicUrl, product.token);
  return {
    ...{ dataDir, config, platform, pool, clients, operator, callbacks, toxiproxy, stopProduct },
    backEnds: product.backEnds,
    postmaster: product.postmaster,
    startSpare: (worker, env) => startSpare(product.env, spares, worker, env),
    queueFaults: async (next) => {
      const answer = await fetch(`${platform.sandboxUrl}/_admin/faults`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${product.env['AIVEDIO_SANDBOX_API_KEY'] ?? ''}`,
        },
        body: JSON.stringify({ next }),
      });
      if (!answer.ok) throw new Error(`The sandbox took no faults: ${answer.status}`);
    },
    close: async (keep) => {
      await Promise.all([...clients, operator].map((client) => client.close()));
      await pool.end();
      await stopProduct();
      await product.close();
      await Promise.all([callbacks.stop(), toxiproxy?.stop()]);
      if (!keep) await rm(dataDir, { recursive: true, force: true });
    },
  };
};

const proxyPorts = async (toxiproxy: Toxiproxy) => ({
  postgres: await toxiproxy.add('postgres'),
  provider: await toxiproxy.add('provider'),
});

const quiet = (say: (line: string) => void): Log => {
  const log: Log = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: (message: string, fields?: unknown) =>
      say(`${message} ${fields === undefined ? '' : JSON.stringify(fields)}`),
    child: () => log,
  };
  return log;
};

/** Tenants like the first one, each with credits and a key. */
const makeClients = async (platform: ProductPlatform, pool: Pool): Promise<string[]> => {
  const prisma = createPrisma({ connectionString: platform.databaseUrl, max: 1 });
  const ids = createIdSource();
  const now = new Date();
  try {
    const apiKeys = createApiKeys({ prisma, ids });
    const keys: string[] = [];
    for (let index = 0; index < CLIENTS; index += 1) {
      const tenantId = ids.next(now);
      await pool.query(
        `INSERT INTO tenants SELECT (jsonb_populate_record(t, jsonb_build_object('id', $1::uuid, 'name', $2::text))).*
         FROM tenants t ORDER BY t.id LIMIT 1`,
        [tenantId, `Chaos ${index + 1}`],
      );
      await pool.query(
        `WITH entry AS (
           INSERT INTO credit_ledger (id, tenant_id, kind, amount_micros, available_delta, held_delta, unit, business_key,
             reason, actor, created_at)
           VALUES ($2::uuid, $1::uuid, 'GRANT', $3::bigint, $3::bigint, 0, 'MICRO_CREDIT', 'grant:' || $1::text || ':chaos',
             'chaos', 'chaos', $4)
         ), audit AS (
           INSERT INTO audit_log (id, tenant_id, actor, action, subject_kind, subject_id, reason, after, created_at)
           VALUES ($2::uuid, $1::uuid, 'chaos', 'credits.grant', 'TENANT', $1::text, 'chaos',
             jsonb_build_object('amountMicros', $3::text, 'reference', 'chaos'), $4)
         )
         INSERT INTO accounts (tenant_id, available_micros, held_micros, version, updated_at)
         VALUES ($1::uuid, $3::bigint, 0, 1, $4)`,
        [tenantId, ids.next(now), '1000000000000', now],
      );
      const { token } = await apiKeys.issue({
        tenantId,
        name: 'Chaos',
        scopes: ['assets:write', 'generations:write', 'generations:read', 'ledger:read'],
        expiresAt: null,
        now,
      });
      keys.push(token);
    }
    return keys;
  } finally {
    await prisma.$disconnect();
  }
};

let spareNumber = 0;

const startSpare = async (
  known: Readonly<Record<string, string>>,
  spares: Set<ChildProcess>,
  worker: WorkerName,
  env: Readonly<Record<string, string>>,
): Promise<ChildProcess> => {
  const script = worker === 'media' ? 'chaos/media-process.js' : `src/workers/${worker}/main.js`;
  spareNumber += 1;
  const spare = spawn(process.execPath, [path.join(projectRoot(), 'dist', script)], {
    env: {
      ...process.env,
      ...known,
      AIVEDIO_NODE: `spare-${spareNumber}`,
      AIVEDIO_CALLBACK_PORT: '0',
      ...env,
    },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  spares.add(spare);
  spare.once('exit', () => spares.delete(spare));
  await new Promise<void>((resolve, reject) => {
    spare.once('message', () => resolve());
    spare.once('exit', (code) => reject(new Error(`a spare ${worker} ended (${code}) at once`)));
  });
  return spare;
};

const once = (work: () => Promise<void>): (() => Promise<void>) => {
  let running: Promise<void> | null = null;
  return () => (running ??= work());
};
