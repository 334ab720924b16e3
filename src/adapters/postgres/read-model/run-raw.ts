import type { PrismaClient } from '../generated/client';
import { statementOf } from '../statements';
import { toPort } from './to-port';

/** Runs `sql/<name>.sql` on Prisma's connections, for reads that its query builder cannot say. */
export const runRaw = async <Row>(
  prisma: PrismaClient,
  name: string,
  parameters: Readonly<Record<string, unknown>>,
): Promise<Row[]> => {
  const statement = statementOf(name);
  const rows = await prisma.$queryRawUnsafe<Record<string, unknown>[]>(
    statement.text,
    ...statement.parameters.map((parameter) => parameters[parameter]),
  );
  return rows.map((row) => toPort<Row>(row));
};
