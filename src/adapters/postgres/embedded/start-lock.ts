import { readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

import { EmbeddedPostgresError } from './embedded-postgres-error';

const POLL_MS = 50;
const ATTEMPTS_MAX = 2400;

/** Whether a process with this id exists, whoever owns it. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Runs `work` while holding `lockFile`, so that two processes started at the same moment do not
 * both initialise one data folder. A lock whose holder has died is taken over. The holder's own
 * process id in the file means another start within this process: it is waited for like any other.
 */
export async function withStartLock<T>(lockFile: string, work: () => Promise<T>): Promise<T> {
  await acquire(lockFile);
  try {
    return await work();
  } finally {
    await rm(lockFile, { force: true });
  }
}

async function acquire(lockFile: string): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    if (await tryAcquire(lockFile)) return;
    const holder = Number(await readFile(lockFile, 'utf8').catch(() => ''));
    // An empty file is a lock being written; it is only broken once it has stayed empty for a while.
    const abandoned = holder > 0 ? !isProcessAlive(holder) : attempt > 40;
    if (abandoned) await rm(lockFile, { force: true });
    else await wait(POLL_MS);
  }
  throw new EmbeddedPostgresError(
    `Another process has held ${lockFile} for ${String((POLL_MS * ATTEMPTS_MAX) / 1000)} seconds.`,
    'If no other start is running, delete that file.',
  );
}

async function tryAcquire(lockFile: string): Promise<boolean> {
  try {
    await writeFile(lockFile, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
