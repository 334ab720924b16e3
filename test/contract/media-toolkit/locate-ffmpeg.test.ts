import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  isOlderThan,
  locateMediaTools,
  makeExecutable,
} from '../../../src/adapters/media/locate-ffmpeg';
import { npmTools } from '../../support/media-fixtures';

describe('locating the media tools', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'locate-'));
  });
  afterEach(async () => {
    await rm(dir, { recursive: true, force: true });
  });

  const writeTool = async (name: string, says: string): Promise<string> => {
    const path = join(dir, name);
    await writeFile(path, `#!/bin/sh\necho "${says}"\n`);
    await chmod(path, 0o755);
    return path;
  };

  it('takes what is on the PATH, without a notice', async () => {
    const ffmpeg = await writeTool('ffmpeg', 'ffmpeg version 7.1-test Copyright');
    const ffprobe = await writeTool('ffprobe', 'ffprobe version 7.1-test Copyright');
    expect(await locateMediaTools({ cacheDir: dir, searchPath: `/none:${dir}` })).toEqual({
      ...{ ffmpeg, ffprobe, version: '7.1-test', source: 'path', notice: null },
    });
  });

  it('falls back to npm with a notice when the PATH has none, or none that runs', async () => {
    await writeTool('ffmpeg', 'something else');
    const found = await locateMediaTools({ cacheDir: dir, searchPath: dir });
    const npm = await npmTools();
    expect(found).toMatchObject({ ffmpeg: npm.ffmpeg, ffprobe: npm.ffprobe, source: 'npm' });
    expect(found.notice).toContain(npm.ffmpeg);
    expect(isOlderThan(found.version, '5.1')).toBe(true);
  });

  it('prefers what is configured, and never replaces it in silence', async () => {
    const ffmpegPath = await writeTool('my-ffmpeg', 'ffmpeg version 6.0 Copyright');
    const ffprobePath = await writeTool('my-ffprobe', 'ffprobe version 6.0 Copyright');
    const found = await locateMediaTools({ ffmpegPath, ffprobePath, cacheDir: dir });
    expect(found).toMatchObject({ ffmpeg: ffmpegPath, ffprobe: ffprobePath, source: 'configured' });
    const missing = { ffmpegPath: join(dir, 'none'), cacheDir: dir };
    await expect(locateMediaTools(missing)).rejects.toThrow();
    const foreign = { ffmpegPath: await writeTool('other', 'no such thing'), cacheDir: dir };
    await expect(locateMediaTools(foreign)).rejects.toThrow('does not answer as ffmpeg');
  });

  it('makes a file executable that npm has left without the bit', async () => {
    const path = await writeTool('tool', 'x');
    await chmod(path, 0o644);
    const copy = join(dir, 'cache');
    expect(await makeExecutable(path, copy)).toBe(path);
    expect((await stat(path)).mode & 0o111).toBe(0o111);
    expect(await readdir(dir)).toEqual(['tool']);
  });
});

describe('judging a version', () => {
  it.each([
    ['5.1.9-0+deb12u1', '5.1', false],
    ['5.1.9-0+deb12u1', '5.1.9', false],
    ['5.1.9-0+deb12u1', '5.2', true],
    ['4.4.2', '5.1', true],
    ['n7.1', '5.1', false],
    ['10.0', '9.9', false],
    ['7', '7.0.0', false],
    ['N-47683-g0e8eb07980-static', '3.0', true],
    ['git-2020-01-01-abcdef', '3.0', true],
  ])('%s against %s: older is %s', (version, minimum, older) => {
    expect(isOlderThan(version, minimum)).toBe(older);
  });
});
