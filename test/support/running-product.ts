import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { Pool } from 'pg';

import { createGraphqlClient, dataOf, type GraphqlClient } from '../../src/client/graphql-client';
import {
  GENERATION,
  GENERATION_CREATE,
  type GenerationReport,
  type UserError,
} from '../../src/demo/operations';
import { uploadPicture } from '../../src/demo/upload-picture';
import { readConfig } from '../../src/runtime/config';
import { startPlatform, type Platform, type PlatformOptions } from '../../src/runtime/platform';
import { toUuid } from '../../src/resolvers/public-id';
import { eventually } from './eventually';

/** The whole product as its users run it: processes of their own, spoken to over HTTP. */
export interface RunningProduct {
  readonly platform: Platform;
  readonly client: GraphqlClient;
  readonly pool: Pool;
  readonly dataDir: string;
  upload(file: string): Promise<string>;
  create(input?: Readonly<Record<string, unknown>>): Promise<string>;
  report(id: string): Promise<GenerationReport>;
  /** Waits until the generation's row stands at one of the statuses; answers which. */
  untilStatus(id: string, statuses: readonly string[], limitMs?: number): Promise<string>;
  sandboxJobs(): Promise<readonly { readonly id: string; readonly reference: string | null }[]>;
  stop(): Promise<void>;
}

const TERMINAL = ['SUCCEEDED', 'CANCELED', 'FAILED_FINAL', 'EXPIRED'];
export const TERMINAL_STATUSES: readonly string[] = TERMINAL;

/** Leases short enough that a killed worker's work comes back within a test's patience. */
const IMPATIENT = {
  AIVEDIO_BUS_LEASE_MS: '3000',
  AIVEDIO_SUBMIT_LEASE_MS: '5000',
  AIVEDIO_STUCK_AFTER_MS: '8000',
  AIVEDIO_POLL_MS_FIRST: '1500',
};

export const startProduct = async (
  options: Pick<
    PlatformOptions,
    'childEnv' | 'healDatabase' | 'processes' | 'sandboxArgs' | 'restartMsMax'
  > & {
    /** For the program that starts the processes, as `AIVEDIO_…`. */
    readonly configEnv?: Readonly<Record<string, string>>;
  } = {},
): Promise<RunningProduct> => {
  const { configEnv, ...platformOptions } = options;
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'aivedio-product-'));
  const config = readConfig({
    AIVEDIO_DATA_DIR: dataDir,
    AIVEDIO_HTTP_PORT: '0',
    AIVEDIO_CALLBACK_PORT: '0',
    ...configEnv,
  });
  const said: string[] = [];
  const note = (message: string): void => void said.push(message);
  const log = { debug: note, info: note, warn: note, error: note, child: () => log };
  const platform = await startPlatform({
    config,
    log,
    anyPort: true,
    processes: 'separate',
    ...platformOptions,
    childEnv: { ...options.childEnv, '*': { ...IMPATIENT, ...options.childEnv?.['*'] } },
  });
  if (platform.firstStart === null) throw new Error('A fresh data folder must make its first key');
  const client = createGraphqlClient(platform.publicUrl, platform.firstStart.token);
  const pool = new Pool({ connectionString: platform.databaseUrl, max: 2 });
  pool.on('error', () => undefined);
  return {
    platform,
    client,
    pool,
    dataDir,
    upload: (file) => uploadPicture(client, file),
    create: (input) => create(client, input ?? {}),
    report: async (id) =>
      present(
        dataOf(await client.request<{ generation: GenerationReport | null }>(GENERATION, { id }))
          .generation,
      ),
    untilStatus: (id, statuses, limitMs = 60_000) => untilStatus(pool, id, statuses, limitMs),
    sandboxJobs: () => readSandboxJobs(platform, dataDir),
    stop: async () => {
      await client.close();
      if (!pool.ended) await pool.end();
      await platform.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
};

const create = async (
  client: GraphqlClient,
  input: Readonly<Record<string, unknown>>,
): Promise<string> => {
  const { generationCreate } = dataOf(
    await client.request<{
      generationCreate: { generation: { id: string } | null; userErrors: readonly UserError[] };
    }>(GENERATION_CREATE, {
      input: {
        idempotencyKey: randomUUID(),
        model: 'sandbox-video-1',
        prompt: 'waves on a beach',
        durationMs: 2000,
        resolution: '480p',
        ...input,
      },
    }),
  );
  if (generationCreate.generation === null) {
    throw new Error(`Refused: ${JSON.stringify(generationCreate.userErrors)}`);
  }
  return generationCreate.generation.id;
};

const untilStatus = async (
  pool: Pool,
  id: string,
  statuses: readonly string[],
  limitMs: number,
): Promise<string> => {
  const uuid = toUuid('generation', id);
  return eventually(
    `generation ${id} at ${statuses.join(' or ')}`,
    async () => {
      // The database may be away: that is what some tests are about.
      const { rows } = await pool
        .query<{ status: string }>('SELECT status FROM generation_tasks WHERE id = $1', [uuid])
        .catch(() => ({ rows: [] }));
      const status = rows[0]?.status;
      return status !== undefined && statuses.includes(status) ? status : null;
    },
    limitMs,
  );
};

const readSandboxJobs = async (platform: Platform, dataDir: string) => {
  const state = JSON.parse(await readFile(path.join(dataDir, 'runtime.json'), 'utf8')) as {
    sandbox: { apiKey: string };
  };
  const response = await fetch(`${platform.sandboxUrl}/_admin/jobs`, {
    headers: { authorization: `Bearer ${state.sandbox.apiKey}` },
  });
  const { data } = (await response.json()) as {
    data: { id: string; request: { reference: string | null } }[];
  };
  return data.map(({ id, request }) => ({ id, reference: request.reference }));
};

const present = <T>(value: T | null): T => {
  if (value === null) throw new Error('The generation cannot be read');
  return value;
};
