import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Client } from 'pg';

import { startEmbeddedPostgres } from '../../src/adapters/postgres/embedded';
import { applyMigrations } from '../../src/adapters/postgres/migrate';

/** The database that every test's own database is a copy of. */
export const TEMPLATE_DATABASE = 'aivedio_template';
/** Under this name the workers find the server's superuser address. */
export const SERVER_URL_VARIABLE = 'AIVEDIO_TEST_SERVER_URL';

const OWNER_ROLE = 'aivedio';
const FOLDER_PREFIX = 'aivedio-test-postgres-';
const REPOSITORY = path.resolve(__dirname, '..', '..');
const WARNINGS_ONLY = { info: () => undefined, warn: (message: string) => console.warn(message) };

export interface TestServer {
  stop(): Promise<void>;
}

/**
 * Starts one Postgres for the whole run, without durability, and migrates the template once.
 * Where AIVEDIO_TEST_SERVER_URL names a server (as a superuser), that one is used instead: so the
 * tests run on other versions of Postgres, too.
 */
export async function startTestServer(): Promise<TestServer> {
  execFileSync(process.execPath, [path.join(REPOSITORY, 'scripts', 'generate-prisma.mjs')]);
  const given = process.env[SERVER_URL_VARIABLE];
  if (given !== undefined) {
    await makeTemplate(given);
    return { stop: () => runAsSuperuser(given, [`DROP DATABASE ${TEMPLATE_DATABASE}`]) };
  }
  await removeLeftovers();
  const dataDir = await makeServerFolder();
  const server = await startEmbeddedPostgres({
    dataDir,
    settings: {
      fsync: false,
      full_page_writes: false,
      max_connections: 300,
      log_statement: 'none',
    },
    log: WARNINGS_ONLY,
  });
  process.env[SERVER_URL_VARIABLE] = server.superuserUrl;
  await makeTemplate(server.superuserUrl);
  return {
    stop: async () => {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A new folder for a server's data; the next run tidies up should this one be killed. */
export function makeServerFolder(): Promise<string> {
  return mkdtemp(path.join(tmpdir(), `${FOLDER_PREFIX}${String(process.pid)}-`));
}

/** The address of another database on the same server, as the product's role. */
export function addressOf(superuserUrl: string, database: string): string {
  const url = new URL(superuserUrl);
  url.username = OWNER_ROLE;
  url.pathname = `/${database}`;
  return url.href;
}

async function makeTemplate(superuserUrl: string): Promise<void> {
  const { password } = new URL(superuserUrl);
  await runAsSuperuser(superuserUrl, [
    `DO $$ BEGIN
       IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '${OWNER_ROLE}') THEN
         CREATE ROLE ${OWNER_ROLE} LOGIN PASSWORD '${decodeURIComponent(password)}';
       END IF;
     END $$`,
    `DROP DATABASE IF EXISTS ${TEMPLATE_DATABASE}`,
    `CREATE DATABASE ${TEMPLATE_DATABASE} OWNER ${OWNER_ROLE}`,
  ]);
  await applyMigrations({
    connectionString: addressOf(superuserUrl, TEMPLATE_DATABASE),
    migrationsDir: path.join(REPOSITORY, 'prisma', 'migrations'),
    log: WARNINGS_ONLY,
  });
}

async function runAsSuperuser(superuserUrl: string, statements: string[]): Promise<void> {
  const client = new Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Servers of runs that were killed before they could tidy up. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const runner = Number(new RegExp(`^${FOLDER_PREFIX}(\\d+)-`).exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(runner) || isAlive(runner)) continue;
    const dataDir = path.join(tmpdir(), name);
    try {
      const left = await startEmbeddedPostgres({ dataDir, log: WARNINGS_ONLY });
      await left.stop();
      await rm(dataDir, { recursive: true, force: true });
    } catch (error) {
      console.warn(`The leftover test server in ${dataDir} could not be removed: ${String(error)}`);
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
