import path from 'node:path';

import { createIdSource } from '../adapters/ids/uuid-ids';
import { createSystemClock } from '../adapters/clock/system-clock';
import { createApiKeys } from '../adapters/postgres/api-keys';
import { createPool, createUnitOfWork } from '../adapters/postgres';
import { createPrisma } from '../adapters/postgres/prisma-client';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../adapters/postgres/embedded';
import { applyMigrations } from '../adapters/postgres/migrate';
import {
  findOrInsertTenant,
  insertFirstTenant,
  seedSandboxCatalog,
} from '../adapters/postgres/seed';
import { createPartitionStore } from '../adapters/postgres/stores/partition-store';
import { ledgerKeys } from '../domain/billing/outcomes';
import { MICROS_PER_CREDIT } from '../domain/kernel/money';
import type { Log } from '../ports/log';
import { API_SCOPES } from '../ports/api-keys';
import type { Config } from './config';
import type { KeyOptions } from './key-options';
import { projectRoot } from './project-root';
import { readEmbeddedState, writeEmbeddedState, type EmbeddedState } from './secrets';

/** Printed once, at the first start of a data folder; the key is not shown again. */
export interface FirstStart {
  readonly tenantId: string;
  readonly token: string;
  readonly creditsGranted: string;
}

const FIRST_CREDITS = 10_000n;

/** Starts (or finds) the embedded server of the data folder and keeps its address and the secrets for the other processes. */
export const prepareEmbedded = async (
  config: Config,
  sandboxUrl: string,
  log: Log,
): Promise<{ readonly state: EmbeddedState; readonly server: EmbeddedPostgres }> => {
  const server = await startEmbeddedPostgres({
    dataDir: path.join(config.dataDir, 'postgres'),
    log,
  });
  const before = readEmbeddedState(config.dataDir);
  const ids = createIdSource();
  const state: EmbeddedState = {
    databaseUrl: server.url,
    signingSecret: config.signingSecret ?? before?.signingSecret ?? ids.secret(32),
    sandbox: {
      url: sandboxUrl,
      apiKey: config.sandbox.apiKey ?? before?.sandbox.apiKey ?? ids.secret(24),
      webhookSecret:
        config.sandbox.webhookSecret ??
        before?.sandbox.webhookSecret ??
        `whsec_${Buffer.from(ids.secret(32), 'base64url').toString('base64')}`,
    },
  };
  writeEmbeddedState(config.dataDir, state);
  return { state, server };
};

/** Brings a database to this code's schema; refuses a newer one. */
export const migrate = async (databaseUrl: string, log: Log): Promise<void> => {
  const { applied } = await applyMigrations({
    connectionString: databaseUrl,
    migrationsDir: path.join(projectRoot(), 'prisma', 'migrations'),
    log,
  });
  if (applied.length > 0) log.info('migrations applied', { applied: applied.length });
};

/** What must stand in the database before the first request: partitions, catalogue, and on a first start tenant and key. */
export const fillDatabase = async (
  config: Config,
  databaseUrl: string,
  sandboxUrl: string | null,
  log: Log,
): Promise<FirstStart | null> => {
  const clock = createSystemClock(config.clockOffsetMs);
  const now = clock.now();
  const pool = createPool({
    connectionString: databaseUrl,
    max: 2,
    applicationName: 'aivedio start',
    connectionTimeoutMs: 10_000,
    statementTimeoutMs: 60_000,
    idleInTransactionTimeoutMs: 60_000,
  });
  const prisma = createPrisma({ connectionString: databaseUrl, max: 1 });
  try {
    await createPartitionStore(pool).ensureDays(now, 4);
    const uow = createUnitOfWork({ pool, bell: { ring: () => undefined }, log });
    // Here already: a backup taken before the first submit must know whose copy it is.
    const restoredAt = await uow.stores.lives.restoredAt(now);
    if (restoredAt?.getTime() === now.getTime()) {
      log.warn(
        'this database was restored, or a standby took over: providers are asked before anything is sent for older generations; see docs/operations.md',
        {},
      );
    }
    if (sandboxUrl !== null) {
      await seedSandboxCatalog(
        prisma,
        { baseUrl: sandboxUrl, concurrentMax: config.sandbox.concurrency },
        now,
      );
    }
    const ids = createIdSource();
    const tenantId = ids.next(now);
    if (!(await insertFirstTenant(prisma, { tenantId, name: 'First tenant' }, now))) return null;
    await uow.stores.money.grant({
      tenantId,
      amountMicros: FIRST_CREDITS * MICROS_PER_CREDIT,
      businessKey: ledgerKeys.firstGrant(tenantId),
      reason: 'First start',
      actor: 'start',
      entryId: ids.next(now),
      now,
    });
    const apiKeys = createApiKeys({ prisma, ids });
    const { token } = await apiKeys.issue({
      tenantId,
      name: 'First key',
      scopes: [...API_SCOPES],
      expiresAt: null,
      now,
    });
    return { tenantId, token, creditsGranted: FIRST_CREDITS.toString() };
  } finally {
    await prisma.$disconnect();
    await pool.end();
  }
};

/**
 * A key of the first tenant, or of the one of that name, which is made where there is none; for a person or a program on the machine that has the data folder: whoever can read it can read
 * the database's password too.
 */
export const issueLocalKey = async (
  config: Config,
  databaseUrl: string,
  { tenant, name, scopes, lifeMs }: KeyOptions,
): Promise<string> => {
  const now = createSystemClock(config.clockOffsetMs).now();
  const prisma = createPrisma({ connectionString: databaseUrl, max: 1 });
  try {
    const ids = createIdSource();
    const tenantId =
      tenant === null
        ? (await prisma.tenants.findFirstOrThrow({ orderBy: { id: 'asc' } })).id
        : await findOrInsertTenant(prisma, { tenantId: ids.next(now), name: tenant }, now);
    const issued = await createApiKeys({ prisma, ids }).issue({
      tenantId,
      name,
      scopes,
      expiresAt: new Date(now.getTime() + lifeMs),
      now,
    });
    return issued.token;
  } finally {
    await prisma.$disconnect();
  }
};
