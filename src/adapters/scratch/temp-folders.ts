import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
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
          await pipeline(body, boundedBy(sizeBytesMax), createWriteStream(target, { mode: 0o600 }));
          return target;
        },
        read: (file) => createReadStream(file),
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
});

const boundedBy = (sizeBytesMax: number): Transform => {
  let seen = 0;
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      seen += chunk.length;
      if (seen > sizeBytesMax) done(new ObjectTooLargeError(`More than ${sizeBytesMax} bytes`));
      else done(null, chunk);
    },
  });
};
