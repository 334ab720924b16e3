import { z } from 'zod';

const ms = (standard: number, max: number) =>
  z.coerce.number().int().min(0).max(max).default(standard);

/** How processes use Postgres; a part of the schema in config.ts, which has AIVEDIO_DATABASE_URL and AIVEDIO_POOL_MAX. */
export const databaseShape = {
  /** Past a pooler: for LISTEN, NOTIFY, migrations and looks from outside, which need a session of their own. */
  AIVEDIO_DATABASE_DIRECT_URL: z.string().optional(),
  /** `transaction`: AIVEDIO_DATABASE_URL names a PgBouncer, or what does as it does, in transaction mode. */
  AIVEDIO_DATABASE_POOLER: z.enum(['none', 'transaction']).default('none'),
  AIVEDIO_STATEMENT_TIMEOUT_MS: ms(15_000, 600_000),
  /** 0: as long as the statement may take. */
  AIVEDIO_LOCK_TIMEOUT_MS: ms(0, 600_000),
  AIVEDIO_IDLE_IN_TRANSACTION_MS: ms(30_000, 600_000),
};

type Parsed = z.infer<z.ZodObject<typeof databaseShape>>;

export interface DatabaseSettings {
  readonly databaseDirectUrl: string | null;
  readonly behindPooler: boolean;
  readonly databaseLimits: {
    readonly statementTimeoutMs: number;
    readonly lockTimeoutMs: number;
    readonly idleInTransactionTimeoutMs: number;
  };
}

export const databaseProblems = (values: Parsed): string[] =>
  values.AIVEDIO_DATABASE_POOLER === 'transaction' &&
  values.AIVEDIO_DATABASE_DIRECT_URL === undefined
    ? [
        'AIVEDIO_DATABASE_DIRECT_URL: AIVEDIO_DATABASE_POOLER=transaction needs the address of the server itself (postgresql://…), for LISTEN and migrations',
      ]
    : [];

export const shapeDatabase = (values: Parsed): DatabaseSettings => ({
  databaseDirectUrl: values.AIVEDIO_DATABASE_DIRECT_URL ?? null,
  behindPooler: values.AIVEDIO_DATABASE_POOLER === 'transaction',
  databaseLimits: {
    statementTimeoutMs: values.AIVEDIO_STATEMENT_TIMEOUT_MS,
    lockTimeoutMs: values.AIVEDIO_LOCK_TIMEOUT_MS,
    idleInTransactionTimeoutMs: values.AIVEDIO_IDLE_IN_TRANSACTION_MS,
  },
});
