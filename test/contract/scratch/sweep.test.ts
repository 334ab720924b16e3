import { mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { sweepTempFolders } from '../../../src/adapters/scratch/temp-folders';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'aivedio-sweep-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe('the sweep of scratch folders', () => {
  it('removes what a crashed process left, and nothing that is in use', async () => {
    const at = new Date('2026-01-01T00:00:00.000Z');
    await Promise.all(['work-old', 'work-new'].map((name) => mkdir(path.join(root, name))));
    await utimes(path.join(root, 'work-old'), at, at);
    expect(await sweepTempFolders(root, new Date('2026-02-01T00:00:00.000Z'))).toBe(1);
    expect(await readdir(root)).toEqual(['work-new']);
  });

  it('finds nothing where there is no folder', async () => {
    expect(await sweepTempFolders(path.join(root, 'none'), new Date())).toBe(0);
  });
});
