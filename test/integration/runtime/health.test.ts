import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { createContainer, type Container } from '../../../src/runtime/container';
import { readConfig } from '../../../src/runtime/config';
import { serveHealth } from '../../../src/runtime/run-worker';
import { createTestDatabase, type TestDatabase } from '../../support/database';

let database: TestDatabase;
let dataDir: string;
let container: Container;
let server: Awaited<ReturnType<typeof serveHealth>> = null;

beforeEach(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'aivedio-health-'));
});

afterEach(async () => {
  await server?.close();
  await container.close();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

const open = async (databaseUrl = database.url): Promise<string> => {
  container = createContainer(
    readConfig({
      AIVEDIO_DATABASE_URL: databaseUrl,
      AIVEDIO_DATA_DIR: dataDir,
      AIVEDIO_SIGNING_SECRET: 'A'.repeat(43),
      AIVEDIO_LOG_LEVEL: 'error',
      AIVEDIO_HEALTH_PORT: '0',
    }),
    'reducer',
  );
  server = await serveHealth(container, ['reducer']);
  return `http://127.0.0.1:${server?.port ?? 0}`;
};

const readyz = async (url: string) => {
  const response = await fetch(`${url}/readyz`);
  const body = (await response.json()) as {
    status: string;
    parts: { name: string; ok: boolean; detail: string }[];
  };
  return { http: response.status, ...body };
};

describe('a worker on its health port', () => {
  it('lives, is ready with every part named, and shows its metrics', async () => {
    const url = await open();
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({
      status: 'ok',
      workers: ['reducer'],
    });
    const ready = await readyz(url);
    expect(ready).toMatchObject({ http: 200, status: 'ready' });
    expect(ready.parts.map(({ name, ok }) => [name, ok])).toEqual(
      expect.arrayContaining([
        ['database', true],
        ['migrations', true],
        ['objects', true],
        ['providers', true],
      ]),
    );
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toMatch(/aivedio_process_resident_memory_bytes\{process="reducer"\} \d+/);
    expect((await fetch(`${url}/secrets`)).status).toBe(404);
  });

  it('names the database when it is out of reach, and lives on', async () => {
    const url = await open('postgresql://aivedio@127.0.0.1:1/nothing');
    const ready = await readyz(url);
    expect(ready).toMatchObject({ http: 503, status: 'not ready' });
    expect(ready.parts.find(({ name }) => name === 'database')).toMatchObject({
      ok: false,
      detail: expect.stringContaining('ECONNREFUSED') as string,
    });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it('names the first migration that is missing, with the command', async () => {
    const url = await open();
    await database.pool.query(
      `DELETE FROM _prisma_migrations WHERE migration_name = (SELECT max(migration_name) FROM _prisma_migrations)`,
    );
    const ready = await readyz(url);
    expect(ready).toMatchObject({ http: 503, status: 'not ready' });
    const migrations = ready.parts.find(({ name }) => name === 'migrations');
    expect(migrations?.detail).toMatch(
      /^1 of \d+ are missing, the first is 2\d+_\w+; run: npm run migrate$/,
    );
  });
});
