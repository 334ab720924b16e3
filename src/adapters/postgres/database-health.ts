import { readdir } from 'node:fs/promises';

import type { Pool } from 'pg';

import type { Clock } from '../../ports/clock';
import type { HealthCheck } from '../../ports/health';

/** Whether a statement comes back, and whether it would be allowed to write. */
export const createDatabaseHealth =
  (pool: Pool): HealthCheck =>
  async () => {
    const { rows } = await pool.query<{ replica: boolean }>(
      'SELECT pg_is_in_recovery() AS replica',
    );
    return rows[0]?.replica === true
      ? { ok: false, detail: 'AIVEDIO_DATABASE_URL names a replica, which takes no writes' }
      : { ok: true, detail: 'answers' };
  };

/** Leases and signed URLs of several machines want one time; the server of the database is the one that all of them can ask. */
export const createClockHealth =
  (pool: Pool, clock: Clock, skewMsMax: number): HealthCheck =>
  async () => {
    const askedMs = clock.now().getTime();
    const { rows } = await pool.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    const answeredMs = clock.now().getTime();
    const thereMs = rows[0]?.now.getTime() ?? Number.NaN;
    // The server looked at its clock at some time between question and answer.
    const skewMs = Math.max(0, askedMs - thereMs, thereMs - answeredMs);
    return {
      ok: skewMs <= skewMsMax,
      detail: `this machine and the database are ${skewMs} ms apart`,
    };
  };

/**
 * Whether every migration that this code needs is applied. A newer database is right: while a release is rolled out the old code
 * runs on the new schema.
 */
export const createMigrationHealth =
  (pool: Pool, migrationsDir: string): HealthCheck =>
  async () => {
    const entries = await readdir(migrationsDir, { withFileTypes: true });
    const needed = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    const { rows } = await pool.query<{ present: boolean }>(
      "SELECT to_regclass('_prisma_migrations') IS NOT NULL AS present",
    );
    const applied = rows[0]?.present === true ? await readApplied(pool) : new Set<string>();
    const missing = needed.filter((name) => !applied.has(name)).sort();
    return missing.length === 0
      ? { ok: true, detail: `${needed.length} applied` }
      : {
          ok: false,
          detail: `${missing.length} of ${needed.length} are missing, the first is ${missing[0] ?? ''}; run: npm run migrate`,
        };
  };

const readApplied = async (pool: Pool): Promise<ReadonlySet<string>> => {
  const { rows } = await pool.query<{ name: string }>(
    'SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
  );
  return new Set(rows.map(({ name }) => name));
};
