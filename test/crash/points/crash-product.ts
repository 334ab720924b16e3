import { readFile } from 'node:fs/promises';
import path from 'node:path';

import type { Pool } from 'pg';

import { createPool } from '../../../src/adapters/postgres';
import type { GraphqlClient } from '../../../src/client/graphql-client';
import type { ArmAnswer, ArmRequest } from '../../../src/runtime/arm-crash-points';
import { eventually } from '../../support/eventually';
import { startProduct, type RunningProduct } from '../../support/running-product';
import type { SandboxJob } from '../../support/sandbox-process';

/** The whole product as its users run it, with a hand on each process. */
export interface CrashProduct {
  readonly client: GraphqlClient;
  readonly pool: Pool;
  readonly dataDir: string;
  readonly databaseUrl: string;
  /** What its processes are told beside their defaults. */
  readonly settings: Readonly<Record<string, string>>;
  readonly tenantId: string;
  /** The process dies at the `hit`th pass of the point, counted from now on. */
  arm(process: string, pointAtHit: string): Promise<void>;
  pidOf(process: string): number | null;
  /** How often the process has said that it is ready. */
  livesOf(process: string): number;
  /** Stops a process in its tracks while `work` runs. */
  whilePaused<T>(process: string, work: () => Promise<T>): Promise<T>;
  /** Holds what the statement locks, for `$1` the tenant, while `work` runs. */
  whileLocked<T>(sql: string, work: () => Promise<T>): Promise<T>;
  rows<T>(sql: string, values?: readonly unknown[]): Promise<T[]>;
  jobs(): Promise<readonly SandboxJob[]>;
  /** Creates that reached the provider, by our own reference. */
  posts(): Promise<Readonly<Record<string, number>>>;
  /** What the provider charged so far, as its own invoice says, one JSON line each. */
  invoiceLines(): Promise<readonly string[]>;
  queueFault(fault: string): Promise<void>;
  stop(): Promise<void>;
}

/** As short as the product can bear: a death shall cost seconds. */
const HASTE = {
  AIVEDIO_CRASH_POINT: 'parent',
  AIVEDIO_BUS_LEASE_MS: '2000',
  AIVEDIO_SUBMIT_LEASE_MS: '3000',
  AIVEDIO_STUCK_AFTER_MS: '5000',
  AIVEDIO_SLOT_TTL_MS: '10000',
  AIVEDIO_POLL_MS_FIRST: '1000',
  AIVEDIO_UPLOAD_TICKET_MS: '15000',
  AIVEDIO_LOG_LEVEL: 'warn',
};

const LOOK_MS = 30_000;

export const startCrashProduct = async (
  childEnv: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
): Promise<CrashProduct> => {
  const product = await startProduct({
    childEnv: { ...childEnv, '*': { ...HASTE, ...childEnv['*'] } },
    configEnv: { AIVEDIO_SANDBOX_CONCURRENCY: '200' },
    sandboxArgs: ['--render', 'instant', '--callback-backoff-ms', '300'],
    restartMsMax: 250,
  });
  try {
    return await take(product);
  } catch (error) {
    await product.stop();
    throw error;
  }
};

const take = async (product: RunningProduct): Promise<CrashProduct> => {
  const { platform, dataDir } = product;
  const { supervisor } = platform;
  const pool = createPool({
    connectionString: platform.databaseUrl,
    max: 12,
    applicationName: 'crash run',
    connectionTimeoutMs: LOOK_MS,
    statementTimeoutMs: LOOK_MS,
    idleInTransactionTimeoutMs: LOOK_MS * 2,
  });
  await pool.query('UPDATE tenants SET in_flight_max = 200');
  // The sandbox lists a job from the moment it has it: an absence needs no long proof here.
  await pool.query('UPDATE providers SET create_settles_ms = 1500, absence_grace_ms = 1500');
  const lives = new Map<string, number>();
  const armed = new Map<string, string>();
  supervisor.hear((name, message) => {
    const said = message as Partial<ArmAnswer> & { readonly ready?: boolean };
    if (said.ready === true) lives.set(name, (lives.get(name) ?? 0) + 1);
    if (said.armed !== undefined) armed.set(name, said.armed);
  });
  const { sandbox } = JSON.parse(await readFile(path.join(dataDir, 'runtime.json'), 'utf8')) as {
    readonly sandbox: { readonly apiKey: string };
  };
  const ask = async (route: string, body?: unknown): Promise<Response> => {
    const response = await fetch(`${platform.sandboxUrl}/${route}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${sandbox.apiKey}`,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`The provider's ${route}: HTTP ${response.status}`);
    return response;
  };
  const admin = async <T>(route: string, body?: unknown): Promise<T> =>
    (await (await ask(`_admin/${route}`, body)).json()) as T;
  const { tenantId } = platform.firstStart ?? {};
  if (tenantId === undefined) throw new Error('A fresh data folder must make its first tenant');
  return {
    client: product.client,
    pool,
    dataDir,
    databaseUrl: platform.databaseUrl,
    settings: HASTE,
    tenantId,
    arm: async (name, pointAtHit) => {
      armed.delete(name);
      await eventually(
        `${name} is armed with ${pointAtHit}`,
        () => {
          if (armed.get(name) === pointAtHit) return true;
          // A process that has just died hears nothing: it is told until it answers.
          supervisor.tell(name, { crashAt: pointAtHit } satisfies ArmRequest);
          return null;
        },
        LOOK_MS,
      );
    },
    pidOf: (name) => supervisor.pidOf(name),
    livesOf: (name) => lives.get(name) ?? 0,
    whilePaused: async (name, work) => {
      // Another point may have killed it a moment ago.
      const pid = await eventually(`${name} runs`, () => supervisor.pidOf(name), LOOK_MS);
      process.kill(pid, 'SIGSTOP');
      try {
        return await work();
      } finally {
        if (supervisor.pidOf(name) === pid) process.kill(pid, 'SIGCONT');
      }
    },
    whileLocked: async (sql, work) => {
      const holder = await pool.connect();
      try {
        await holder.query('BEGIN');
        await holder.query(sql, [tenantId]);
        return await work();
      } finally {
        await holder.query('ROLLBACK');
        holder.release();
      }
    },
    rows: async <T>(sql: string, values: readonly unknown[] = []) =>
      (await pool.query(sql, [...values])).rows as T[],
    jobs: async () => (await admin<{ data: SandboxJob[] }>('jobs')).data,
    posts: async () =>
      (await admin<{ by_reference: Record<string, number> }>('requests')).by_reference,
    invoiceLines: async () => (await (await ask('v1/invoice')).text()).split('\n').filter(Boolean),
    queueFault: async (fault) => {
      await admin('faults', { next: [fault] });
    },
    stop: async () => {
      await pool.end();
      await product.stop();
    },
  };
};
