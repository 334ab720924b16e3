import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';

import { isProcessAlive } from '../adapters/postgres/embedded/start-lock';

/**
 * One product per data folder: a second one would move the addresses that the first one's processes rely on. The lock names its
 * process; one that is left behind by a dead process is taken over. Answers how to give it back.
 */
export const lockDataFolder = (dataDir: string): (() => void) => {
  mkdirSync(dataDir, { recursive: true });
  const file = path.join(dataDir, 'start.lock');
  for (;;) {
    try {
      const lock = openSync(file, 'wx', 0o600);
      writeSync(lock, String(process.pid));
      closeSync(lock);
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const owner = ownerOf(file);
      if (owner !== null && owner !== process.pid && isProcessAlive(owner)) {
        throw new Error(
          `AiVedio runs already on ${dataDir} (process ${owner}): stop it, or set AIVEDIO_DATA_DIR to another folder; if that process is something else, remove ${file}`,
          { cause: error },
        );
      }
      rmSync(file, { force: true });
    }
  }
};

/** Whether a living process holds the folder. */
export const isFolderLocked = (dataDir: string): boolean => {
  const owner = ownerOf(path.join(dataDir, 'start.lock'));
  return owner !== null && isProcessAlive(owner);
};

const ownerOf = (file: string): number | null => {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    return Number.isInteger(pid) && pid > 0 ? pid : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};
