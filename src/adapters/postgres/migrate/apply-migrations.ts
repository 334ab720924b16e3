import { setTimeout as wait } from 'node:timers/promises';

import type { Client } from 'pg';

import type { NoticeLog } from '../notice-log';
import { MigrationFailedError } from './migration-errors';
import { readMigrationFiles } from './migration-files';
import type { MigrationFile } from './migration-files';
import {
  assertHistoryUsable,
  firstLines,
  readMigrationHistory,
  readSchemaFloor,
  rollBackIfLockedOut,
  settleInterruptedMigrations,
} from './migration-history';
import { withMigrationLock } from './migration-lock';
import { openSchemaEngine } from './schema-engine';

const LOCK_WAIT_MS = 300_000;
const LOCK_TRIES_MAX = 30;
const LOCK_RETRY_MS = 1_000;

export interface ApplyMigrationsOptions {
  readonly connectionString: string;
  /** The folder prisma/migrations. */
  readonly migrationsDir: string;
  /** How long to wait for another starter; 5 minutes unless told otherwise. */
  readonly lockWaitMs?: number;
  readonly log: NoticeLog;
}

export interface AppliedMigrations {
  /** Names of the migrations applied by this call, in order. */
  readonly applied: readonly string[];
  /** How many had been applied before. */
  readonly alreadyApplied: number;
}

/**
 * Brings the database to the schema of this version. Starters running at once wait for each other;
 * when nothing is to do the schema engine is not even loaded.
 *
 * Throws `SchemaTooNewError`, `MigrationFailedError`, `MigrationEditedError`, `MigrationLockError`,
 * or what the connection throws.
 */
export async function applyMigrations(options: ApplyMigrationsOptions): Promise<AppliedMigrations> {
  const { connectionString, lockWaitMs = LOCK_WAIT_MS, log } = options;
  const migrations = await readMigrationFiles(options.migrationsDir);
  return withMigrationLock(connectionString, lockWaitMs, async (client) => {
    const history = await readMigrationHistory(client);
    assertHistoryUsable(history, migrations, await readSchemaFloor(client));
    const names = new Set(migrations.map(({ name }) => name));
    const repeated = await settleInterruptedMigrations(client, history, names);
    if (repeated.length > 0) {
      log.warn(`A start was interrupted while migrating; running again: ${repeated.join(', ')}.`);
    }
    const known = new Set(history.map(({ name }) => name));
    const pending = migrations.filter(({ name }) => !known.has(name) || repeated.includes(name));
    const alreadyApplied = migrations.length - pending.length;
    if (pending.length === 0) return { applied: [], alreadyApplied };
    log.info(`Applying ${String(pending.length)} database migrations.`);
    await runEngine(options, migrations, client);
    return { applied: pending.map(({ name }) => name), alreadyApplied };
  });
}

async function runEngine(
  options: ApplyMigrationsOptions,
  migrations: readonly MigrationFile[],
  client: Client,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await runEngineOnce(options, migrations, client);
    } catch (error) {
      // Whoever waits for a lock makes all wait who come after it: a migration gives way soon, and comes again.
      const gaveWay = error instanceof MigrationFailedError && (await rollBackIfLockedOut(client));
      if (!gaveWay || tries >= LOCK_TRIES_MAX) throw error;
      options.log.warn(`The migration ${error.migration} did not get its locks; trying again.`);
      await wait(LOCK_RETRY_MS);
    }
  }
}

async function runEngineOnce(
  options: ApplyMigrationsOptions,
  migrations: readonly MigrationFile[],
  client: Client,
): Promise<void> {
  const engine = await openSchemaEngine(options.connectionString);
  try {
    await engine.applyMigrations(options.migrationsDir, migrations);
  } catch (error) {
    const failed = (await readMigrationHistory(client)).find(({ finished }) => !finished);
    if (failed === undefined) throw error;
    const reason = failed.failure ?? (error instanceof Error ? error.message : String(error));
    throw new MigrationFailedError(failed.name, firstLines(reason), { cause: error });
  } finally {
    await engine.close();
  }
}
