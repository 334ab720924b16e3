import { createHash, randomBytes } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Client } from 'pg';

import {
  applyMigrations,
  diffSchema,
  MigrationEditedError,
  MigrationFailedError,
  MigrationLockError,
  SchemaTooNewError,
} from '../../../src/adapters/postgres/migrate';
import { serverUrl } from '../../support/database';
import { addressOf } from '../../support/test-server';

jest.setTimeout(60_000);

const REPOSITORY = path.resolve(__dirname, '..', '..', '..');
const OUR_MIGRATIONS = path.join(REPOSITORY, 'prisma', 'migrations');
const silent = { info: () => undefined, warn: () => undefined };

let name: string;
let client: Client;
let migrationsDir: string;

beforeEach(async () => {
  name = `migrate_${randomBytes(6).toString('hex')}`;
  await asSuperuser(`CREATE DATABASE ${name} OWNER aivedio`);
  client = new Client({ connectionString: connectionString() });
  await client.connect();
  migrationsDir = await mkdtemp(path.join(tmpdir(), 'aivedio-migrations-'));
});

afterEach(async () => {
  await client.end();
  await asSuperuser(`DROP DATABASE ${name} WITH (FORCE)`);
  await rm(migrationsDir, { recursive: true, force: true });
});

function connectionString(): string {
  return addressOf(serverUrl(), name);
}

async function asSuperuser(statement: string): Promise<void> {
  const superuser = new Client({ connectionString: serverUrl() });
  await superuser.connect();
  await superuser.query(statement);
  await superuser.end();
}

async function writeMigration(migration: string, script: string): Promise<void> {
  await mkdir(path.join(migrationsDir, migration), { recursive: true });
  await writeFile(path.join(migrationsDir, migration, 'migration.sql'), script);
}

function apply(options: { log?: typeof silent; lockWaitMs?: number } = {}) {
  return applyMigrations({
    connectionString: connectionString(),
    migrationsDir,
    log: silent,
    ...options,
  });
}

async function history(): Promise<object[]> {
  const { rows } = await client.query<object>(
    `SELECT migration_name AS name, finished_at IS NOT NULL AS finished, rolled_back_at IS NOT NULL AS "rolledBack"
     FROM _prisma_migrations ORDER BY started_at`,
  );
  return rows;
}

const FIRST = '20260101000000_create_first';
const SECOND = '20260102000000_create_second';

test('applies our migrations in order, then finds nothing to do', async () => {
  await cp(OUR_MIGRATIONS, migrationsDir, { recursive: true });
  const names = (await readdir(OUR_MIGRATIONS)).filter((each) => /^\d/.test(each)).sort();
  expect(await apply()).toEqual({ applied: names, alreadyApplied: 0 });
  expect(await apply()).toEqual({ applied: [], alreadyApplied: names.length });
});

test('leaves a history that Prisma itself would have written', async () => {
  await cp(OUR_MIGRATIONS, migrationsDir, { recursive: true });
  const { applied } = await apply();
  const { rows } = await client.query<object>(
    `SELECT migration_name, checksum, finished_at >= started_at AS finished, rolled_back_at, logs, applied_steps_count
     FROM _prisma_migrations ORDER BY migration_name`,
  );
  const expected = await Promise.all(
    applied.map(async (migration) => ({
      migration_name: migration,
      checksum: createHash('sha256')
        .update(await readFile(path.join(OUR_MIGRATIONS, migration, 'migration.sql')))
        .digest('hex'),
      finished: true,
      rolled_back_at: null,
      logs: null,
      applied_steps_count: 1,
    })),
  );
  expect(rows).toEqual(expected);
});

test('keeps function bodies whole, although they hold semicolons', async () => {
  await writeMigration(
    FIRST,
    `CREATE FUNCTION answer() RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM 1; RETURN 42; END $$;
     CREATE TABLE note (text text DEFAULT 'a;b');`,
  );
  await apply();
  await client.query('INSERT INTO note DEFAULT VALUES');
  const { rows } = await client.query('SELECT answer() AS answer, text FROM note');
  expect(rows).toEqual([{ answer: 42, text: 'a;b' }]);
});

test('starters at the same moment wait for each other and apply everything once', async () => {
  await writeMigration(FIRST, 'CREATE TABLE first (id int); SELECT pg_sleep(0.2);');
  await writeMigration(SECOND, 'CREATE TABLE second (id int);');
  const results = await Promise.all([apply(), apply(), apply()]);
  const applied = results.map((result) => result.applied).filter((each) => each.length > 0);
  expect(applied).toEqual([[FIRST, SECOND]]);
  expect(await history()).toHaveLength(2);
});

test('gives up when another process migrates for too long', async () => {
  await writeMigration(FIRST, 'CREATE TABLE first (id int); SELECT pg_advisory_xact_lock(1, 1);');
  await client.query('SELECT pg_advisory_lock(1, 1)');
  const slow = apply();
  for (let waiting = false; !waiting;) {
    const { rows } = await client.query(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'",
    );
    waiting = rows.length > 0;
  }
  await expect(apply({ lockWaitMs: 50 })).rejects.toThrow(MigrationLockError);
  await client.query('SELECT pg_advisory_unlock(1, 1)');
  expect(await slow).toEqual({ applied: [FIRST], alreadyApplied: 0 });
});

test('refuses a database that a newer version has migrated, and changes nothing', async () => {
  await writeMigration(FIRST, 'CREATE TABLE first (id int)');
  await writeMigration(SECOND, 'CREATE TABLE second (id int)');
  await apply();
  await rm(path.join(migrationsDir, SECOND), { recursive: true });
  await writeMigration('20260101120000_create_pending', 'CREATE TABLE pending (id int)');

  const refusal = apply();
  await expect(refusal).rejects.toThrow(SchemaTooNewError);
  await expect(refusal).rejects.toMatchObject({ unknownMigrations: [SECOND] });
  const { rows } = await client.query("SELECT to_regclass('pending') AS pending");
  expect(rows).toEqual([{ pending: null }]);
});

test('refuses a script that was edited after it had been applied, but not other line ends', async () => {
  await writeMigration(FIRST, 'CREATE TABLE first (\n  id int\n)');
  await apply();
  await writeMigration(FIRST, 'CREATE TABLE first (\r\n  id int\r\n)');
  expect(await apply()).toEqual({ applied: [], alreadyApplied: 1 });
  await writeMigration(FIRST, 'CREATE TABLE first (\n  id bigint\n)');
  await expect(apply()).rejects.toThrow(MigrationEditedError);
});

test('a refused script leaves nothing behind, says why, and runs again once it is marked', async () => {
  await writeMigration(FIRST, 'CREATE TABLE first (id int)');
  await writeMigration(SECOND, 'CREATE TABLE second (id int); SELECT 1 / 0;');
  await expect(apply()).rejects.toThrow(MigrationFailedError);
  await expect(apply()).rejects.toThrow(/division by zero/);
  const { rows } = await client.query(
    "SELECT to_regclass('first')::text AS first, to_regclass('second') AS second",
  );
  expect(rows).toEqual([{ first: 'first', second: null }]);

  await client.query(
    `UPDATE _prisma_migrations SET rolled_back_at = started_at WHERE migration_name = '${SECOND}' AND finished_at IS NULL`,
  );
  await writeMigration(SECOND, 'CREATE TABLE second (id int);');
  expect(await apply()).toEqual({ applied: [SECOND], alreadyApplied: 1 });
});

test('runs a migration again whose starter was killed before it committed', async () => {
  await writeMigration(FIRST, 'CREATE TABLE first (id int)');
  await writeMigration(SECOND, 'CREATE TABLE second (id int)');
  await apply();
  await client.query('DROP TABLE second');
  await client.query(
    `UPDATE _prisma_migrations SET finished_at = NULL, applied_steps_count = 0 WHERE migration_name = '${SECOND}'`,
  );
  expect(await apply()).toEqual({ applied: [SECOND], alreadyApplied: 1 });
  expect(await history()).toEqual([
    { name: FIRST, finished: true, rolledBack: false },
    { name: SECOND, finished: false, rolledBack: true },
    { name: SECOND, finished: true, rolledBack: false },
  ]);
});

test('finishes a migration whose starter was killed after it committed', async () => {
  await writeMigration(FIRST, 'CREATE TABLE first (id int)');
  await apply();
  await client.query('UPDATE _prisma_migrations SET finished_at = NULL');
  expect(await apply()).toEqual({ applied: [], alreadyApplied: 1 });
  expect(await history()).toEqual([{ name: FIRST, finished: true, rolledBack: false }]);
});

test('a difference between database and models is found', async () => {
  const schemaPath = path.join(migrationsDir, 'schema.prisma');
  await writeMigration(FIRST, 'CREATE TABLE note (id int CONSTRAINT note_pkey PRIMARY KEY)');
  await apply();
  const datasource = 'datasource db {\n  provider = "postgresql"\n}\n';
  await writeFile(schemaPath, `${datasource}model note {\n  id Int @id\n}\n`);
  expect(await diffSchema({ connectionString: connectionString(), schemaPath })).toBe('');
  await writeFile(schemaPath, `${datasource}model note {\n  id Int @id\n  text String\n}\n`);
  expect(await diffSchema({ connectionString: connectionString(), schemaPath })).toContain(
    'ADD COLUMN     "text" TEXT NOT NULL',
  );
});
