import { PrismaPg } from '@prisma/adapter-pg';

import { PrismaClient } from './generated/client';

export interface PrismaOptions {
  readonly connectionString: string;
  readonly max: number;
  readonly connectionTimeoutMs?: number;
  /** Null behind a pooler, which takes no settings at the start of a connection. */
  readonly statementTimeoutMs?: number | null;
}

const CONNECTION_TIMEOUT_MS = 5_000;

/**
 * Prisma over a pool of its own, for the reads of the API and the operator console. Every change goes through the
 * stores. Rows are spelled as in SQL and never leave this folder's callers in the container; close with `$disconnect`.
 */
export const createPrisma = ({
  statementTimeoutMs = null,
  ...options
}: PrismaOptions): PrismaClient =>
  new PrismaClient({
    adapter: new PrismaPg({
      connectionString: options.connectionString,
      max: options.max,
      // The adapter would wait for ever without one.
      connectionTimeoutMillis: options.connectionTimeoutMs ?? CONNECTION_TIMEOUT_MS,
      ...(statementTimeoutMs === null ? {} : { statement_timeout: statementTimeoutMs }),
    }),
  });
