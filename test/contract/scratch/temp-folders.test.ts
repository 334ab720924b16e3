import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';

import { createTempFolders } from '../../../src/adapters/scratch/temp-folders';
import { ObjectTooLargeError } from '../../../src/ports/object-store';

describe('temporary folders behind the scratch port', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'aivedio-scratch-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('gives each use a folder of its own, which ends with it', async () => {
    const scratch = createTempFolders(path.join(root, 'made-when-missing'));
    const seen = await Promise.all(
      ['a', 'b'].map((name) =>
        scratch.use(async (folder) => {
          const file = await folder.save('input', Readable.from([Buffer.from(name)]), 10);
          expect(await readFile(file.path, 'utf8')).toBe(name);
          expect(file.sha256).toBe(createHash('sha256').update(name).digest('hex'));
          expect((await stat(file.path)).mode & 0o077).toBe(0);
          return folder.path;
        }),
      ),
    );
    expect(new Set(seen).size).toBe(2);
    expect(seen.map((folder) => existsSync(folder))).toEqual([false, false]);
  });

  it('leaves nothing when the work fails, and passes the failure on', async () => {
    const scratch = createTempFolders(root);
    await expect(
      scratch.use(async (folder) => {
        await folder.save('input', Readable.from([Buffer.from('x')]), 10);
        throw new Error('the work failed');
      }),
    ).rejects.toThrow('the work failed');
    expect(await readdir(root)).toEqual([]);
  });

  it('refuses more bytes than the bound', async () => {
    const scratch = createTempFolders(root);
    const tooMuch = scratch.use((folder) =>
      folder.save('input', Readable.from([Buffer.alloc(6), Buffer.alloc(6)]), 10),
    );
    await expect(tooMuch).rejects.toBeInstanceOf(ObjectTooLargeError);
    expect(await readdir(root)).toEqual([]);
  });

  it('keeps a name that climbs inside the folder', async () => {
    await createTempFolders(root).use(async (folder) => {
      const file = await folder.save('../../escape', Readable.from([Buffer.from('x')]), 10);
      expect(path.dirname(file.path)).toBe(folder.path);
    });
  });
});
