import { PrismaPg } from '@prisma/adapter-pg';

import { translateFaults } from '../../../src/adapters/postgres/read-model/prisma-errors';
import { createPrisma } from '../../../src/adapters/postgres/prisma-client';
import { PrismaClient } from '../../../src/adapters/postgres/generated/client';
import { DatabaseUnavailableError } from '../../../src/ports/unit-of-work';
import { useTestDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';

jest.setTimeout(60_000);

const database = useTestDatabase();

test('the generated client reads what SQL wrote', async () => {
  const prisma = new PrismaClient({
    adapter: new PrismaPg({
      connectionString: database().url,
      connectionTimeoutMillis: 5_000,
      max: 2,
    }),
  });
  try {
    const [row] = await prisma.$queryRaw<object[]>`SELECT 1 AS one`;
    expect(row).toEqual({ one: 1 });
    expect(await prisma.tenants.count()).toBe(0);
  } finally {
    await prisma.$disconnect();
  }
});

test.each(['a model', 'a statement'] as const)(
  'a server that ends the connection under %s is out of reach, not a fault of ours',
  async (by) => {
    const prisma = createPrisma({ connectionString: database().url, max: 1 });
    const reads = translateFaults({
      'a model': () => prisma.tenants.count(),
      'a statement': () => prisma.$queryRaw`SELECT count(*) FROM tenants`,
    });
    const holder = await database().pool.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('LOCK TABLE tenants');
      const answer = expect(reads[by]()).rejects.toBeInstanceOf(DatabaseUnavailableError);
      await eventually('the read waits for the table, and its connection is ended', async () => {
        const { rowCount } = await database().pool.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE wait_event_type = 'Lock' AND datname = current_database()`,
        );
        return rowCount === 1 ? true : null;
      });
      await answer;
    } finally {
      await holder.query('ROLLBACK');
      holder.release();
      await prisma.$disconnect();
    }
  },
);
