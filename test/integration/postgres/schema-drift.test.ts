import path from 'node:path';

import { diffSchema } from '../../../src/adapters/postgres/migrate';
import { useTestDatabase } from '../../support/database';

jest.setTimeout(60_000);

const database = useTestDatabase();

test('the migrations build exactly what the Prisma models describe', async () => {
  const schemaPath = path.resolve(__dirname, '..', '..', '..', 'prisma', 'schema');
  expect(await diffSchema({ connectionString: database().url, schemaPath })).toBe('');
});

test('partitions made later are no difference', async () => {
  const { pool, url } = database();
  const { rows } = await pool.query(
    "SELECT ensure_day_partitions('2026-01-01T00:00:00Z', 3) AS made",
  );
  expect(rows[0]).toEqual({ made: expect.any(Number) });
  const schemaPath = path.resolve(__dirname, '..', '..', '..', 'prisma', 'schema');
  expect(await diffSchema({ connectionString: url, schemaPath })).toBe('');
});
