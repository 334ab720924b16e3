import { Client } from 'pg';

import { MigrationLockError } from './migration-errors';

/** Two numbers nobody else is likely to use; Prisma's own lock is another one. */
const LOCK_KEY = [0x61697665, 0x6d696772] as const;
const LOCK_NOT_AVAILABLE = '55P03';
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Runs `work` while this process alone holds the migration lock of the database. The lock belongs
 * to the connection handed to `work`, so it goes away with a process that dies.
 *
 * Throws `MigrationLockError` after `waitMs`.
 */
export async function withMigrationLock<T>(
  connectionString: string,
  waitMs: number,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({
    connectionString,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'aivedio-migrate',
  });
  // A connection lost while the engine works on another one fails the next query here.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(`SET lock_timeout = ${String(waitMs)}`);
    await client.query('SELECT pg_advisory_lock($1, $2)', [...LOCK_KEY]);
    return await work(client);
  } catch (error) {
    if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
    throw new MigrationLockError(waitMs, { cause: error });
  } finally {
    await client.end();
  }
}
