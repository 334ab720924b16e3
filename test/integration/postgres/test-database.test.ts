import { Client } from 'pg';

import { createTestDatabase } from '../../support/database';

test('each database has the schema and is apart from the others', async () => {
  const [one, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  await one.pool.query('CREATE TABLE mark (id int)');
  const { rows } = await other.pool.query(
    "SELECT to_regclass('generation_tasks') IS NOT NULL AS schema, to_regclass('mark') AS mark",
  );
  expect(rows).toEqual([{ schema: true, mark: null }]);
  await Promise.all([one.drop(), other.drop()]);
});

test('a connection left open is named when the database is dropped', async () => {
  const database = await createTestDatabase();
  const client = new Client({ connectionString: database.url, application_name: 'leaky' });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('BEGIN');
  await expect(database.drop()).rejects.toThrow(/leaky \(idle in transaction\): BEGIN/);
  await client.end();
});

test('a client of the pool that was not given back is reported', async () => {
  const database = await createTestDatabase();
  const client = await database.pool.connect();
  client.on('error', () => undefined);
  await expect(database.drop()).rejects.toThrow(/1 clients of the test's pool not released/);
  client.release(true);
});
