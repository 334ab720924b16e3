import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** One folder below prisma/migrations. */
export interface MigrationFile {
  /** The folder's name, `<timestamp>_<verb>_<object>`: the order is the order of the names. */
  readonly name: string;
  readonly script: string;
}

/** Reads all migrations in the order in which they apply. Throws when a folder has no script. */
export async function readMigrationFiles(migrationsDir: string): Promise<MigrationFile[]> {
  const entries = await readdir(migrationsDir, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const script = await readFile(path.join(migrationsDir, name, 'migration.sql'), 'utf8');
      return { name, script };
    }),
  );
}

/** SHA-256 of the script in hexadecimal, as Prisma keeps it in `_prisma_migrations.checksum`. */
export function computeChecksum(script: string): string {
  return createHash('sha256').update(script, 'utf8').digest('hex');
}

/** Whether the checksum is of this script. Git may have turned the line ends of one of the two. */
export function matchesChecksum(script: string, checksum: string): boolean {
  const unix = script.replaceAll('\r\n', '\n');
  return [script, unix, unix.replaceAll('\n', '\r\n')].map(computeChecksum).includes(checksum);
}
