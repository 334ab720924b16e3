import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { Client, Pool } from 'pg';

import { applyMigrations, SchemaTooNewError } from '../../src/adapters/postgres/migrate';
import { parseStatement } from '../../src/adapters/postgres/statements';
import { readConfig } from '../../src/runtime/config';
import { verifyStored } from '../../src/runtime/verify';
import { createRecordingLog } from '../contract/recording-log';
import { serverUrl } from '../support/database';
import { addressOf } from '../support/test-server';

const ROOT = path.resolve(__dirname, '../..');
const MIGRATIONS = path.join(ROOT, 'prisma/migrations');
const FIXTURES = path.join(ROOT, 'test/fixtures/v0.1.0');
/** The newest one of v0.1.0. */
const LAST_OF_OLD = '20261201000600_index_validating_assets';
/** Counted before and after: what is history stays, whatever a migration does. */
const TABLES = [
  ...['generation_tasks', 'task_attempts', 'task_state_events', 'provider_events', 'assets'],
  ...['credit_ledger', 'holds', 'accounts', 'outbox_events', 'inbox_dedup', 'provider_costs'],
];

describe('an upgrade from v0.1.0', () => {
  let dir: string;
  let oldMigrations: string;
  let name: string;
  let url: string;
  let pool: Pool;
  let before: Readonly<Record<string, number>>;
  const log = createRecordingLog();

  beforeAll(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'aivedio-upgrade-'));
    oldMigrations = path.join(dir, 'migrations');
    await cp(MIGRATIONS, oldMigrations, { recursive: true });
    for (const entry of await readdir(oldMigrations)) {
      if (entry > LAST_OF_OLD && /^\d/.test(entry)) {
        await rm(path.join(oldMigrations, entry), { recursive: true });
      }
    }
    name = `upgrade_${randomBytes(6).toString('hex')}`;
    await asSuperuser('postgres', `CREATE DATABASE ${name} OWNER aivedio`);
    url = addressOf(serverUrl(), name);
    const { applied } = await applyMigrations({
      ...{ connectionString: url, migrationsDir: oldMigrations, log },
    });
    expect(applied.at(-1)).toBe(LAST_OF_OLD);
    pool = new Pool({ connectionString: url, max: 4 });
    await pool.query("SELECT ensure_day_partitions('2026-12-01T00:00:00Z', 3)");
    await asSuperuser(
      name,
      // As a restore loads: the rows passed guards and foreign keys once.
      `SET session_replication_role = replica; ${await readFile(path.join(FIXTURES, 'data.sql'), 'utf8')}`,
    );
    before = await countAll(pool);
    expect(before['task_state_events']).toBeGreaterThan(150);
  }, 60_000);

  afterAll(async () => {
    await pool.end();
    await asSuperuser('postgres', `DROP DATABASE ${name} WITH (FORCE)`);
    await rm(dir, { recursive: true, force: true });
  });

  it('keeps every row, while somebody reads and the old statements go on', async () => {
    // A reader that lingers in the way of every ALTER TABLE for a while: the migration gives way, and comes again.
    const reader = await pool.connect();
    await reader.query('BEGIN');
    await reader.query('SELECT count(*) FROM generation_tasks, task_attempts, providers');
    const migrated = applyMigrations({ connectionString: url, migrationsDir: MIGRATIONS, log });
    await until(() => log.lines.some(({ message }) => message.includes('did not get its locks')));
    // Others were not kept waiting by it for longer than it waited itself.
    await pool.query('SELECT 1 FROM generation_tasks LIMIT 1');
    await reader.query('COMMIT');
    reader.release();
    const { applied } = await migrated;
    expect(applied.length).toBeGreaterThan(10);
    expect(await countAll(pool)).toEqual(before);
  }, 90_000);

  it('leaves facts that satisfy every invariant', async () => {
    const report = await verifyStored({
      config: readConfig({ AIVEDIO_DATABASE_URL: url, AIVEDIO_DATA_DIR: path.join(dir, 'none') }),
      log,
      settleMs: 60_000,
      only: null,
      canaries: [],
      onBytes: null,
    });
    expect(report.checked.length).toBeGreaterThan(25);
    expect(report.violations).toEqual([]);
  }, 60_000);

  it('lets every statement of v0.1.0 run as before', async () => {
    const statements = await readStatements();
    expect(statements.length).toBe(99);
    const failed: string[] = [];
    for (const { name: statement, text } of statements) {
      const client = await pool.connect();
      try {
        // Parsed and planned against the new schema: each table, column and type that it names must still be there.
        const asks = /^LOCK /.test(text) ? `BEGIN; ${text}; ROLLBACK` : `PREPARE old AS ${text}`;
        await client.query(asks).catch((error: unknown) => {
          failed.push(`${statement}: ${String(error)}`);
        });
        await client.query('DEALLOCATE ALL');
      } finally {
        client.release();
      }
    }
    expect(failed).toEqual([]);
  }, 60_000);

  it('is refused to v0.1.0 itself, whose migrate knows nothing of later releases', async () => {
    await expect(
      applyMigrations({ connectionString: url, migrationsDir: oldMigrations, log }),
    ).rejects.toThrow(SchemaTooNewError);
  });

  it('leaves a release alone whose successor only added, and refuses it once the floor was raised', async () => {
    await pool.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ('later', 'x', '29990101000000_add_something', clock_timestamp(), clock_timestamp(), 1)`,
    );
    const again = () => applyMigrations({ connectionString: url, migrationsDir: MIGRATIONS, log });
    expect(await again()).toMatchObject({ applied: [] });
    await pool.query("UPDATE schema_floor SET migration = '29990101000000_add_something'");
    await expect(again()).rejects.toThrow(SchemaTooNewError);
  });
});

const until = async (isSo: () => boolean): Promise<void> => {
  const deadline = Date.now() + 60_000;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error('The migration never had to wait');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

const countAll = async (pool: Pool): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const table of TABLES) {
    const { rows } = await pool.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM ${table}`,
    );
    counts[table] = rows[0]?.count ?? 0;
  }
  return counts;
};

const readStatements = async () =>
  (await readFile(path.join(FIXTURES, 'statements.sql'), 'utf8'))
    .split(/^--- /m)
    .slice(1)
    .map((part) => {
      const [statement = '', ...lines] = part.split('\n');
      return parseStatement(statement, lines.join('\n'));
    });

const asSuperuser = async (database: string, sql: string): Promise<void> => {
  const address = new URL(serverUrl());
  address.pathname = `/${database}`;
  const client = new Client({ connectionString: address.href });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
};
