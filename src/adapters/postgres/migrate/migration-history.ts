import type { ClientBase } from 'pg';

import { MigrationEditedError, MigrationFailedError, SchemaTooNewError } from './migration-errors';
import { matchesChecksum } from './migration-files';
import type { MigrationFile } from './migration-files';

/** One row of `_prisma_migrations` that was not rolled back. */
export interface MigrationRecord {
  readonly name: string;
  readonly checksum: string;
  readonly finished: boolean;
  /** How many of its scripts were committed: 0 or 1. */
  readonly committedSteps: number;
  /** What the database said when it refused the script; null when nobody lived to write it down. */
  readonly failure: string | null;
}

const SELECT_HISTORY = `
  SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished,
         applied_steps_count AS "committedSteps", nullif(logs, '') AS failure
  FROM _prisma_migrations
  WHERE rolled_back_at IS NULL
  ORDER BY started_at`;

/** The migrations this database has seen; none when it is empty. */
export async function readMigrationHistory(client: ClientBase): Promise<MigrationRecord[]> {
  const table = await client.query<{ present: boolean }>(
    "SELECT to_regclass('_prisma_migrations') IS NOT NULL AS present",
  );
  if (table.rows[0]?.present !== true) return [];
  const { rows } = await client.query<MigrationRecord>(SELECT_HISTORY);
  return rows;
}

/**
 * The migration that code must know to work on this schema, as a later one has stated it; null where none has.
 */
export async function readSchemaFloor(client: ClientBase): Promise<string | null> {
  const table = await client.query<{ present: boolean }>(
    "SELECT to_regclass('schema_floor') IS NOT NULL AS present",
  );
  if (table.rows[0]?.present !== true) return null;
  const { rows } = await client.query<{ migration: string }>('SELECT migration FROM schema_floor');
  return rows[0]?.migration ?? null;
}

/**
 * Refuses a history this code must not build on: migrations it does not know, scripts changed
 * since, or a script that the database refused. Migrations of a later version that only add are no hindrance to code that has
 * nothing left to apply itself.
 */
export function assertHistoryUsable(
  history: readonly MigrationRecord[],
  migrations: readonly MigrationFile[],
  floor: string | null = null,
): void {
  const scripts = new Map(migrations.map(({ name, script }) => [name, script]));
  const unknown = history.filter(({ name }) => !scripts.has(name)).map(({ name }) => name);
  const applied = new Set(history.flatMap(({ name, finished }) => (finished ? [name] : [])));
  const isComplete = migrations.every(({ name }) => applied.has(name));
  if (unknown.length > 0 && !(isComplete && floor !== null && scripts.has(floor))) {
    throw new SchemaTooNewError(unknown);
  }
  const failed = history.find(
    ({ name, finished, failure }) => scripts.has(name) && !finished && failure !== null,
  );
  if (failed !== undefined) throw new MigrationFailedError(failed.name, firstLines(failed.failure));
  const edited = history
    .filter(
      ({ finished, name, checksum }) =>
        finished && scripts.has(name) && !isScriptOf(scripts, name, checksum),
    )
    .map(({ name }) => name);
  if (edited.length > 0) throw new MigrationEditedError(edited);
}

function isScriptOf(scripts: Map<string, string>, name: string, checksum: string): boolean {
  const script = scripts.get(name);
  return script !== undefined && matchesChecksum(script, checksum);
}

/**
 * Settles rows of a starter that was killed half-way, so that nobody has to repair the database
 * after an untimely Ctrl-C. A script is one transaction: when its step was counted it stands and
 * only the row is finished; otherwise it was rolled back and is run again. (Killed between the two,
 * a second run stops at the first object that exists already, which is a failure with a remedy.)
 *
 * Only call this while holding the migration lock. Answers the names that will run again.
 */
export async function settleInterruptedMigrations(
  client: ClientBase,
  history: readonly MigrationRecord[],
  known: ReadonlySet<string>,
): Promise<string[]> {
  const interrupted = history.filter(
    ({ name, finished, failure }) => known.has(name) && !finished && failure === null,
  );
  for (const { name, committedSteps } of interrupted) {
    const column = committedSteps > 0 ? 'finished_at' : 'rolled_back_at';
    await client.query(
      `UPDATE _prisma_migrations SET ${column} = started_at
       WHERE migration_name = $1 AND finished_at IS NULL AND rolled_back_at IS NULL`,
      [name],
    );
  }
  return interrupted.filter(({ committedSteps }) => committedSteps === 0).map(({ name }) => name);
}

/** The database's own words, without the engine's call stack below them. */
export function firstLines(failure: string | null): string {
  const [said = ''] = (failure ?? '').split(/\n\s+0: /);
  return said.trim() || 'no reason was recorded.';
}

/** Whether the latest failure was a lock that did not come in time; its row is closed then, and the script may run again. */
export async function rollBackIfLockedOut(client: ClientBase): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE _prisma_migrations SET rolled_back_at = started_at
     WHERE finished_at IS NULL AND rolled_back_at IS NULL AND logs LIKE '%canceling statement due to lock timeout%'`,
  );
  return (rowCount ?? 0) > 0;
}
