import { readFile, truncate, copyFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { createMediaToolkit } from '../../../src/adapters/media/media-toolkit';
import type { MediaLimits, MediaToolkit, ProbeResult } from '../../../src/ports/media-toolkit';
import {
  makeAbsurdlyLarge,
  playlistsPointingAt,
  removeTemporaries,
  writeTemporary,
} from '../../support/hostile-files';
import { allTools, makeClip, type NamedTools } from '../../support/media-fixtures';

const LIMITS: MediaLimits = {
  sizeBytesMax: 50_000_000,
  widthMax: 4096,
  heightMax: 4096,
  pixelsMax: 4096 * 2304,
  durationMsMax: 60_000,
  frameRateMax: 120,
};
const SOURCE = 'testsrc2=s=320x240:r=30:d=1';

/** Both the tools of this machine and the old ones from npm, by name, in a table for jest. */
const NAMES = ['path', 'npm'] as const;
let toolsByName: ReadonlyMap<string, NamedTools>;

beforeAll(async () => {
  toolsByName = new Map((await allTools()).map((tools) => [tools.name, tools]));
}, 60_000);

afterAll(removeTemporaries);

describe.each(NAMES)('probe with the tools from %s', (name) => {
  let toolkit: MediaToolkit;
  beforeAll(() => {
    const tools = toolsByName.get(name) ?? toolsByName.get('npm');
    if (!tools) throw new Error('no media tools');
    toolkit = createMediaToolkit({ ...tools, tempDir: tmpdir() });
  });

  const probe = (path: string, limits: Partial<MediaLimits> = {}): Promise<ProbeResult> =>
    toolkit.probe(path, { ...LIMITS, ...limits });
  const expectRefusal = async (path: string, refusal: string): Promise<void> => {
    expect(await probe(path)).toMatchObject({ ok: false, refusal });
  };

  it('tells what an MP4 holds', async () => {
    const path = await makeClip({ video: SOURCE, audio: 'sine=f=440:d=1' });
    expect(await probe(path)).toEqual({
      ok: true,
      facts: {
        mime: 'video/mp4',
        kind: 'video',
        width: 320,
        height: 240,
        rotation: 0,
        durationMs: expect.any(Number) as number,
        frameRate: { numerator: 30, denominator: 1 },
        videoCodec: 'h264',
        audioCodec: 'aac',
        pixelFormat: 'yuv420p',
        colorTransfer: null,
      },
    });
  });

  it('keeps odd frame rates as exact fractions', async () => {
    const path = await makeClip({ video: 'testsrc2=s=64x48:r=30000/1001:d=1' });
    const frameRate = { numerator: 30_000, denominator: 1001 };
    expect(await probe(path)).toMatchObject({ ok: true, facts: { frameRate } });
  });

  it.each([
    ['mov', 'video/quicktime', 'video', []],
    ['webm', 'video/webm', 'video', ['-c:v', 'libvpx-vp9', '-deadline', 'realtime']],
    ['jpg', 'image/jpeg', 'image', ['-frames:v', '1']],
    ['png', 'image/png', 'image', ['-frames:v', '1']],
    ['webp', 'image/webp', 'image', ['-frames:v', '1']],
  ] as const)('accepts %s, whatever it is called', async (extension, mime, kind, options) => {
    const made = await makeClip({ video: SOURCE, extension, options });
    const path = await writeTemporary('a.txt', await readFile(made));
    expect(await probe(path)).toMatchObject({
      ok: true,
      facts: { mime, kind, width: 320, height: 240 },
    });
  });

  it.each([90, 180, 270] as const)(
    'tells a rotation of %d degrees and upright sides',
    async (rotation) => {
      const path = await makeClip({ video: SOURCE, rotation });
      const upright = rotation === 180 ? { width: 320, height: 240 } : { width: 240, height: 320 };
      expect(await probe(path)).toMatchObject({ ok: true, facts: { rotation, ...upright } });
    },
  );

  it('refuses a file without bytes', async () => {
    await expectRefusal(await writeTemporary('a.mp4', ''), 'EMPTY_FILE');
  });

  it.each([
    ['text', 'just a text'],
    ['HTML', '<html><script>1</script></html>'],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['GIF', 'GIF89a'],
    ['one byte', '\0'],
    [
      'Matroska',
      Buffer.from('1a45dfa39f4286810142f7810142f2810442f381084282886d6174726f736b61', 'hex'),
    ],
    ['AVIF', Buffer.from('0000001c667479706176696600000000', 'hex')],
  ])('refuses %s named .mp4', async (_, content) => {
    await expectRefusal(await writeTemporary('a.mp4', content), 'UNSUPPORTED_TYPE');
  });

  it('refuses playlists named .mp4, and nothing that they point at is opened', async () => {
    let connections = 0;
    const server: Server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const local = await makeClip({ video: SOURCE });
    for (const target of [`http://127.0.0.1:${port}/a.ts`, local, `file:${local}`]) {
      for (const text of Object.values(playlistsPointingAt(target))) {
        await expectRefusal(await writeTemporary('a.mp4', text), 'UNSUPPORTED_TYPE');
        const behindFtyp = Buffer.concat([FTYP, Buffer.from(text)]);
        await expectRefusal(await writeTemporary('a.mp4', behindFtyp), 'CORRUPT_MEDIA');
      }
    }
    expect(connections).toBe(0);
    await new Promise((resolve) => server.close(resolve));
  });

  it.each(['mp4', 'png', 'jpeg', 'webp', 'webm'])(
    'refuses a header that claims 64250 x 64250 pixels: %s',
    async (container) => {
      const path = (await makeAbsurdlyLarge())[container] ?? '';
      const result = await probe(path, { widthMax: 8192, heightMax: 8192, pixelsMax: 8192 * 8192 });
      expect(result).toMatchObject({ ok: false, refusal: 'RESOLUTION_TOO_LARGE' });
    },
  );

  it.each([
    ['widthMax', 319, 'RESOLUTION_TOO_LARGE'],
    ['heightMax', 239, 'RESOLUTION_TOO_LARGE'],
    ['pixelsMax', 320 * 240 - 1, 'RESOLUTION_TOO_LARGE'],
    ['durationMsMax', 999, 'DURATION_TOO_LONG'],
    ['frameRateMax', 29, 'FRAME_RATE_TOO_HIGH'],
    ['sizeBytesMax', 1000, 'FILE_TOO_LARGE'],
  ])('judges %s', async (limit, value, refusal) => {
    const path = await makeClip({ video: SOURCE });
    expect(await probe(path, { [limit]: value })).toMatchObject({ ok: false, refusal });
    expect(await probe(path)).toMatchObject({ ok: true });
  });

  it('refuses sound without pictures', async () => {
    await expectRefusal(await makeClip({ video: null, audio: 'sine=d=1' }), 'NO_VIDEO_STREAM');
  });

  it.each(['index at the end', 'index at the front'])('refuses a cut file: %s', async (where) => {
    const options = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p'];
    const front = where.endsWith('front') ? ['-movflags', '+faststart'] : [];
    const whole = await makeClip({ video: SOURCE, options: [...options, ...front] });
    const path = await writeTemporary('a.mp4', '');
    await copyFile(whole, path);
    await truncate(path, Math.floor((await readFile(whole)).length / 2));
    await expectRefusal(path, 'CORRUPT_MEDIA');
  });

  it('refuses noise behind a good magic number', async () => {
    for (const [start, refusal] of [
      [FTYP, 'CORRUPT_MEDIA'],
      [hex('ffd8ffe0'), 'CORRUPT_MEDIA'],
      // Of a PNG the chunks are looked at too, before it is called one.
      [hex('89504e470d0a1a0a'), 'UNSUPPORTED_TYPE'],
    ] as const) {
      const path = await writeTemporary('a.mp4', Buffer.concat([start, Buffer.alloc(5000, 0xa7)]));
      await expectRefusal(path, refusal);
    }
  });

  it('finds the duration of a recording that does not state it', async () => {
    const path = await makeClip({
      video: SOURCE,
      options: ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-live', '1', '-f', 'webm'],
      extension: 'webm',
    });
    const result = await probe(path);
    const durationMs = result.ok ? result.facts.durationMs : null;
    expect(durationMs).toBeGreaterThan(900);
    expect(durationMs).toBeLessThan(1100);
  });

  it('says nothing of where the file lies', async () => {
    const path = await writeTemporary('a.mp4', Buffer.concat([FTYP, Buffer.alloc(100, 1)]));
    expect(JSON.stringify(await probe(path))).not.toContain(tmpdir());
  });
});

const hex = (digits: string): Buffer => Buffer.from(digits, 'hex');
const FTYP = hex('00000018667479706d703432000000006d70343269736f6d');
