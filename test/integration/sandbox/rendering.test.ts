import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { fixtureTools, makeClip } from '../../support/media-fixtures';
import { startSandbox, type SandboxProcess } from '../../support/sandbox-process';
import { SandboxClient, type CreateBody } from './sandbox-client';

const runFile = promisify(execFile);

describe.each([
  ['the ffmpeg of this machine', null],
  ['the ffmpeg of npm, built in 2018', 'npm'],
])('what the sandbox renders with %s', (_name, build) => {
  let sandbox: SandboxProcess;
  let client: SandboxClient;
  let pictures: Server;
  let picturesUrl: string;

  beforeAll(async () => {
    sandbox = await startSandbox({
      render: 'real',
      ...(build === null ? {} : { ffmpegPath: packagedFfmpeg() }),
    });
    client = new SandboxClient(sandbox);
    pictures = await servePictures();
    picturesUrl = `http://127.0.0.1:${(pictures.address() as AddressInfo).port}`;
  }, 60_000);
  afterAll(async () => {
    await sandbox.stop();
    pictures.closeAllConnections();
    await new Promise((resolve) => pictures.close(resolve));
  });

  async function render(overrides: CreateBody = {}): Promise<string> {
    const id = await client.create(overrides);
    await client.reaches(id, 'succeeded');
    const job = (await sandbox.jobs()).find((one) => one.id === id);
    return job?.output?.path ?? '';
  }

  it('gives H.264 and AAC of the size and length that were asked for', async () => {
    const wide = await render({ duration_ms: 1500 });
    expect(await probe(wide)).toEqual({ video: 'h264 854x480', audio: 'aac', durationMs: 1500 });
    const tall = await render({ aspect_ratio: '9:16', resolution: '720p', audio: false });
    expect(await probe(tall)).toEqual({ video: 'h264 720x1280', audio: null, durationMs: 500 });
    const square = await render({ aspect_ratio: '1:1', resolution: '1080p' });
    expect(await probe(square)).toMatchObject({ video: 'h264 1080x1080', audio: 'aac' });
  }, 60_000);

  it('decodes to the last frame, and moves', async () => {
    const hashes = await frameHashes(await render({ duration_ms: 1000 }), 'video');
    expect(hashes).toHaveLength(25);
    expect(new Set(hashes).size).toBeGreaterThan(20);
  }, 60_000);

  it('gives equal pictures and sound for equal requests', async () => {
    const [one, other] = [await render(), await render()];
    expect(await frameHashes(one, 'video')).toEqual(await frameHashes(other, 'video'));
    expect(await frameHashes(one, 'audio')).toEqual(await frameHashes(other, 'audio'));
  }, 60_000);

  it('gives other pictures and another tone for another prompt or another seed', async () => {
    const clips = [
      await render({ prompt: 'one' }),
      await render({ prompt: 'two' }),
      await render({ prompt: 'one', seed: 8 }),
      await render({ prompt: '東京' }),
      await render({ prompt: '京都' }),
    ];
    await expectAllDifferent(clips, 'video');
    await expectAllDifferent(clips, 'audio');
  }, 60_000);

  it('shows the given image: other pictures for another image, the same for the same', async () => {
    const clip = (name: string): Promise<string> => render({ image_url: `${picturesUrl}/${name}` });
    const [bars, red, again] = [
      await clip('bars.jpg'),
      await clip('red.png'),
      await clip('red.png'),
    ];
    await expectAllDifferent([bars, red, await render()], 'video');
    expect(await frameHashes(again, 'video')).toEqual(await frameHashes(red, 'video'));
    const [r, g, b] = await cornerColour(red);
    expect(r).toBeGreaterThan(200);
    expect(Math.max(g, b)).toBeLessThan(60);
  }, 60_000);

  it('turns a picture upright that its camera stored on its side', async () => {
    const upright = await render({ image_url: `${picturesUrl}/halves.jpg` });
    const turned = await render({ image_url: `${picturesUrl}/halves-turned.jpg` });
    // The stored left half is red; turned by a quarter clockwise it is the upper half.
    expect((await cornerColour(upright))[0]).toBeGreaterThan(200);
    expect((await cornerColour(upright, 'right'))[0]).toBeLessThan(60);
    expect((await cornerColour(turned, 'right'))[0]).toBeGreaterThan(200);
  }, 60_000);

  it.each(['missing.png', 'playlist.png', 'redirect'])(
    'fails a job whose image is %s as invalid input, without a charge',
    async (name) => {
      const id = await client.create({ image_url: `${picturesUrl}/${name}` });
      const job = await client.reaches(id, 'failed');
      expect(job).toMatchObject({ error: { code: 'invalid_image' }, cost: { amount: '0.0000' } });
    },
    60_000,
  );
});

function packagedFfmpeg(): string {
  return (require('@ffmpeg-installer/ffmpeg') as { path: string }).path;
}

async function servePictures(): Promise<Server> {
  const still = { audio: null, options: ['-frames:v', '1'] } as const;
  const halves = 'color=red:s=320x360[l];color=blue:s=320x360[r];[l][r]hstack';
  const files: Record<string, Buffer> = {
    '/bars.jpg': await picture({ ...still, video: 'testsrc=s=640x360', extension: 'jpg' }),
    '/red.png': await picture({ ...still, video: 'color=red:s=640x360', extension: 'png' }),
    '/halves.jpg': await picture({ ...still, video: halves, extension: 'jpg' }),
    '/playlist.png': Buffer.from('#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n'),
  };
  files['/halves-turned.jpg'] = withOrientation(files['/halves.jpg'] ?? Buffer.alloc(0), 6);
  const server = createServer((request, response) => {
    const file = files[request.url ?? ''];
    if (request.url === '/redirect') response.writeHead(302, { location: '/red.png' }).end();
    else if (file) response.end(file);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function picture(recipe: Parameters<typeof makeClip>[0]): Promise<Buffer> {
  return readFile(await makeClip(recipe));
}

/** Puts an EXIF segment with this orientation behind the start of a JPEG. */
function withOrientation(jpeg: Buffer, orientation: number): Buffer {
  const tiff = Buffer.from('4d4d002a00000008000101120003000000010000000000000000', 'hex');
  tiff.writeUInt16BE(orientation, 18);
  const payload = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff]);
  const head = Buffer.from([0xff, 0xe1, 0, payload.length + 2]);
  return Buffer.concat([jpeg.subarray(0, 2), head, payload, jpeg.subarray(2)]);
}

async function probe(
  path: string,
): Promise<{ video: string; audio: string | null; durationMs: number }> {
  const { ffprobe } = await fixtureTools();
  const { stdout } = await runFile(ffprobe, [
    ...['-v', 'error', '-of', 'json', '-show_format'],
    ...['-show_entries', 'stream=codec_name,codec_type,width,height', path],
  ]);
  const { streams, format } = JSON.parse(stdout) as {
    streams: { codec_name: string; codec_type: string; width: number; height: number }[];
    format: { duration: string };
  };
  const video = streams.find((stream) => stream.codec_type === 'video');
  const audio = streams.find((stream) => stream.codec_type === 'audio');
  return {
    video: `${video?.codec_name} ${video?.width}x${video?.height}`,
    audio: audio?.codec_name ?? null,
    // A frame is 40 ms long: the end is rounded to the nearest of them.
    durationMs: Math.round(Number(format.duration) * 10) * 100,
  };
}

/** One hash a decoded frame; a broken stream makes ffmpeg, and so the test, fail. */
async function frameHashes(path: string, kind: 'video' | 'audio'): Promise<string[]> {
  const { ffmpeg } = await fixtureTools();
  const map = kind === 'video' ? '0:v' : '0:a';
  const { stdout } = await runFile(
    ffmpeg,
    ['-v', 'error', '-xerror', '-i', path, '-map', map, '-f', 'framemd5', '-'],
    { maxBuffer: 16 * 1024 * 1024 },
  );
  const lines = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => line.split(',').at(-1)?.trim() ?? '');
}

async function expectAllDifferent(paths: string[], kind: 'video' | 'audio'): Promise<void> {
  const tenth = await Promise.all(paths.map(async (path) => (await frameHashes(path, kind))[10]));
  expect(new Set(tenth).size).toBe(paths.length);
}

/** Red, green and blue in an upper corner of the frame after 0.2 s. */
async function cornerColour(
  path: string,
  side: 'left' | 'right' = 'left',
): Promise<[number, number, number]> {
  const { ffmpeg } = await fixtureTools();
  const x = side === 'left' ? '4' : 'iw-12';
  const { stdout } = await runFile(
    ffmpeg,
    [
      ...['-v', 'error', '-ss', '0.2', '-i', path, '-frames:v', '1'],
      ...['-vf', `crop=8:8:${x}:4,scale=1:1`, '-pix_fmt', 'rgb24', '-f', 'rawvideo', '-'],
    ],
    { encoding: 'buffer' },
  );
  return [stdout[0] ?? 0, stdout[1] ?? 0, stdout[2] ?? 0];
}
