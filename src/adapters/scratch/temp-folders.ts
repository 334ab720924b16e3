import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { ObjectTooLargeError } from '../../ports/object-store';
import type { Scratch } from '../../ports/scratch';

/** Temporary folders below `root`, which is made when missing. */
export const createTempFolders = (root: string): Scratch => ({
  use: async (work) => {
    await mkdir(root, { recursive: true });
    const folder = await mkdtemp(path.join(root, 'work-'));
    try {
      return await work({
        path: folder,
        save: async (name, body, sizeBytesMax) => {
          const target = path.join(folder, path.basename(name));
          const hash = createHash('sha256');
          const file = createWriteStream(target, { mode: 0o600 });
          await pipeline(body, boundedBy(sizeBytesMax, hash), file);
          return { path: target, sha256: hash.digest('hex') };
        },
        read: (file) => createReadStream(file),
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
});

/** Removes what crashed processes left below `root`, last touched before `olderThan`; answers how many. */
export const sweepTempFolders = async (root: string, olderThan: Date): Promise<number> => {
  let removed = 0;
  for (const name of await orNone(readdir(root), [])) {
    const folder = path.join(root, name);
    const facts = await orNone(stat(folder), null);
    if (facts === null || facts.mtime >= olderThan) continue;
    await rm(folder, { recursive: true, force: true });
    removed += 1;
  }
  return removed;
};

const orNone = async <T, N>(work: Promise<T>, none: N): Promise<T | N> => {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return none;
    throw error;
  }
};

const boundedBy = (sizeBytesMax: number, hash: Hash): Transform => {
  let seen = 0;
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      seen += chunk.length;
      if (seen > sizeBytesMax) {
        done(new ObjectTooLargeError(`More than ${sizeBytesMax} bytes`));
        return;
      }
      hash.update(chunk);
      done(null, chunk);
    },
  });
};
