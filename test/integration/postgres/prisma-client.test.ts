import { PrismaPg } from '@prisma/adapter-pg';

import { PrismaClient } from '../../../src/adapters/postgres/generated/client';
import { useTestDatabase } from '../../support/database';

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
