import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

import { Client, Pool } from 'pg';

import { addressOf, SERVER_URL_VARIABLE, TEMPLATE_DATABASE } from './test-server';

const POOL_SIZE = 10;
const POLL_MS = 20;
const CLOSING_ATTEMPTS_MAX = 100;

/** A database of the test's own, with the product's schema and no rows. */
export interface TestDatabase {
  /** Its address, as the role that owns it (no superuser), as in the product. */
  readonly url: string;
  /** A pool for the test itself; closed by `drop`. */
  readonly pool: Pool;
  /**
   * Drops the database. Throws when the code under test left a connection open, a client of `pool`
   * checked out, or a transaction unfinished: the database is dropped even then.
   */
  drop(): Promise<void>;
}

/** Copies the migrated template, or another database that nobody is connected to: a matter of some 50 ms. */
export async function createTestDatabase(template = TEMPLATE_DATABASE): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await runAsSuperuser((client) =>
    client.query(`CREATE DATABASE ${name} TEMPLATE ${template} OWNER aivedio`),
  );
  const url = addressOf(serverUrl(), name);
  const pool = new Pool({
    connectionString: url,
    max: POOL_SIZE,
    connectionTimeoutMillis: 10_000,
    application_name: 'test',
  });
  // A test may kill connections on purpose; the query that needed one reports it.
  pool.on('error', () => undefined);
  return { url, pool, drop: () => dropDatabase(name, pool) };
}

/**
 * Gives each test of the surrounding `describe` (or file) a fresh database. Answers a function,
 * because the database only exists while a test runs.
 */
export function useTestDatabase(): () => TestDatabase {
  let database: TestDatabase | undefined;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    const finished = database;
    database = undefined;
    await finished?.drop();
  });
  return () => {
    if (database === undefined) throw new Error('There is a database only inside a test.');
    return database;
  };
}

async function dropDatabase(name: string, pool: Pool): Promise<void> {
  const checkedOut = pool.totalCount - pool.idleCount;
  // With a client checked out, `end` would wait for it for ever.
  const ended = pool.end();
  if (checkedOut === 0) await ended;
  const leaks = await runAsSuperuser(async (client) => {
    const left = await waitUntilClosed(client, name);
    await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
    return left;
  });
  if (checkedOut > 0)
    leaks.unshift(`${String(checkedOut)} clients of the test's pool not released`);
  if (leaks.length > 0) throw new Error(`The test left connections open:\n${leaks.join('\n')}`);
}

/** A closed connection takes Postgres a moment to forget; one left open stays. */
async function waitUntilClosed(client: Client, name: string): Promise<string[]> {
  for (let attempt = 1; ; attempt += 1) {
    const { rows } = await client.query<{ leak: string }>(
      `SELECT format('%s (%s): %s', coalesce(nullif(application_name, ''), 'unnamed'), state, query) AS leak
       FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'`,
      [name],
    );
    if (rows.length === 0 || attempt === CLOSING_ATTEMPTS_MAX) return rows.map(({ leak }) => leak);
    await wait(POLL_MS);
  }
}

async function runAsSuperuser<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: serverUrl(), application_name: 'test-support' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The server of this run, as superuser: for tests that make roles or databases themselves. */
export function serverUrl(): string {
  const url = process.env[SERVER_URL_VARIABLE];
  if (url === undefined) {
    throw new Error(
      'This test needs a database: keep it in a folder of the project "integration".',
    );
  }
  return url;
}
