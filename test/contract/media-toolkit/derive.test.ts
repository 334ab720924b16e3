import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createMediaToolkit } from '../../../src/adapters/media/media-toolkit';
import type { Derivative, DerivativeKind, MediaToolkit } from '../../../src/ports/media-toolkit';
import { removeTemporaries, writeTemporary } from '../../support/hostile-files';
import {
  allTools,
  fixtureTools,
  inspect,
  makeClip,
  readRgb,
  type ClipRecipe,
} from '../../support/media-fixtures';
import { isRunning, makeEndlessTool } from '../../support/slow-tools';

const LIMITS = {
  ...{ sizeBytesMax: 50_000_000, widthMax: 4096, heightMax: 4096, pixelsMax: 9_437_184 },
  ...{ durationMsMax: 60_000, frameRateMax: 120 },
};
const ALL_KINDS = ['PROXY', 'HLS', 'THUMBNAIL', 'STORYBOARD', 'WAVEFORM'] as const;
const TIME_LIMIT_MS = 60_000;

jest.setTimeout(120_000);
afterAll(removeTemporaries);

/** Both the tools of this machine and the old ones from npm. */
describe.each(['path', 'npm'])('derive with the tools from %s', (name) => {
  let toolkit: MediaToolkit;
  let tempDir: string;
  let outputDir: string;

  beforeEach(async () => {
    const found = await allTools();
    const tools = found.find((one) => one.name === name) ?? found[0];
    if (!tools) throw new Error('no media tools');
    tempDir = await mkdtemp(join(tmpdir(), 'toolkit-'));
    outputDir = join(tempDir, 'output');
    toolkit = createMediaToolkit({ ...tools, tempDir: join(tempDir, 'work') });
  });
  afterEach(async () => {
    const left = await readdir(join(tempDir, 'work')).catch(() => []);
    await rm(tempDir, { recursive: true, force: true });
    expect(left).toEqual([]);
  });

  const deriveFile = async (kind: DerivativeKind, path: string): Promise<Derivative | null> => {
    const probed = await toolkit.probe(path, LIMITS);
    if (!probed.ok) throw new Error(JSON.stringify(probed));
    const input = { path, facts: probed.facts };
    return toolkit.derive(kind, input, outputDir, { timeLimitMs: TIME_LIMIT_MS });
  };
  const derive = async (kind: DerivativeKind, recipe: ClipRecipe): Promise<Derivative> => {
    const derivative = await deriveFile(kind, await makeClip(recipe));
    if (derivative === null) throw new Error('nothing was derived');
    return derivative;
  };
  const entryPath = (derivative: Derivative): string => join(outputDir, derivative.entry);

  describe('every derivative', () => {
    it('lists just the files that it wrote, with their sizes and digests', async () => {
      const recipe = { video: 'testsrc2=s=320x240:r=30:d=3', audio: 'sine=d=3' };
      const names: string[] = [];
      for (const kind of ALL_KINDS) {
        const { files, entry } = await derive(kind, recipe);
        for (const file of files) {
          const bytes = await readFile(file.path);
          const sha256 = createHash('sha256').update(bytes).digest('hex');
          expect([file.sizeBytes, file.sha256]).toEqual([bytes.length, sha256]);
          expect(file.path).toBe(join(outputDir, file.name));
          names.push(file.name);
        }
        expect(files.map((file) => file.name)).toContain(entry);
      }
      const found = await readdir(outputDir, { recursive: true, withFileTypes: true });
      const written = found
        .filter((one) => one.isFile())
        .map((one) => join(one.parentPath, one.name));
      expect(written.sort()).toEqual(names.map((one) => join(outputDir, one)).sort());
    });

    it('replaces the files of an earlier run, and no others', async () => {
      await derive('HLS', { video: 'testsrc2=s=320x240:r=30:d=5' });
      await writeFile(join(outputDir, 'hls/half-written.ts'), 'x');
      await writeFile(join(outputDir, 'beside.txt'), 'x');
      const { files } = await derive('HLS', { video: 'testsrc2=s=320x240:r=30:d=1' });
      const left = await readdir(join(outputDir, 'hls'), { recursive: true });
      expect(left.filter((one) => one.includes('.')).sort()).toEqual(
        files.map((file) => file.name.replace('hls/', '')).sort(),
      );
      expect(await readFile(join(outputDir, 'beside.txt'), 'utf8')).toBe('x');
    });

    it('is made of odd sizes with even ones and the same shape', async () => {
      for (const [width, height] of [
        [853, 481],
        [127, 73],
      ] as const) {
        const options = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv444p'];
        const recipe = { video: `testsrc2=s=${width}x${height}:r=10:d=1`, options };
        const proxy = await videoOf(entryPath(await derive('PROXY', recipe)));
        const segment = await videoOf(await firstSegment(await derive('HLS', recipe)));
        for (const video of [proxy, segment]) {
          expect([Number(video.width) % 2, Number(video.height) % 2]).toEqual([0, 0]);
          const shape = Number(video.width) / Number(video.height);
          expect(Math.abs(shape / (width / height) - 1)).toBeLessThan(0.01);
        }
      }
    });

    // The source is red on its left and blue on its right.
    it.each([
      [90, 'red above blue'],
      [180, 'blue left of red'],
      [270, 'blue above red'],
    ] as const)('of a picture turned by %d degrees is upright: %s', async (rotation, seen) => {
      const video =
        'color=c=red:s=160x240:r=10:d=1[a];color=c=blue:s=160x240:r=10:d=1[b];[a][b]hstack';
      const upright = rotation === 180 ? { width: 320, height: 240 } : { width: 240, height: 320 };
      for (const kind of ['PROXY', 'HLS', 'THUMBNAIL'] as const) {
        const derivative = await derive(kind, { video, rotation });
        const path = kind === 'HLS' ? await firstSegment(derivative) : entryPath(derivative);
        const stream = await videoOf(path);
        expect({ kind, width: stream.width, height: stream.height }).toEqual({ kind, ...upright });
        expect(JSON.stringify(stream)).not.toMatch(/rotat|displaymatrix/i);
        expect(await describeColors(path)).toBe(seen);
      }
    });

    it('exists for a clip of half a second', async () => {
      for (const kind of ALL_KINDS.filter((one) => one !== 'WAVEFORM')) {
        const { files } = await derive(kind, { video: 'testsrc2=s=320x240:r=30:d=0.5' });
        expect(files.every((file) => file.sizeBytes > 0)).toBe(true);
      }
    });

    it('exists for sound that outlasts the pictures', async () => {
      const recipe = { video: 'testsrc2=s=320x240:r=30:d=1', audio: 'sine=d=6' };
      for (const kind of ALL_KINDS) {
        const { files } = await derive(kind, recipe);
        expect(files.every((file) => file.sizeBytes > 0)).toBe(true);
      }
      const index = await readFile(join(outputDir, 'storyboard.vtt'), 'utf8');
      expect(index.match(/-->/g)).toHaveLength(1);
    });

    it('of a still picture is the thumbnail alone', async () => {
      const path = await makeClip({
        ...{ video: 'testsrc2=s=320x240:r=1:d=1', options: ['-frames:v', '1'], extension: 'png' },
      });
      expect((await deriveFile('THUMBNAIL', path))?.facts).toMatchObject({
        width: 320,
        height: 240,
      });
      for (const kind of ['PROXY', 'HLS', 'STORYBOARD', 'WAVEFORM'] as const) {
        expect(await deriveFile(kind, path)).toBeNull();
      }
    });
  });

  describe('the proxy', () => {
    it('packs anew what complies, without touching a frame, and puts the index in front', async () => {
      const path = await makeClip({ video: 'testsrc2=s=320x240:r=30:d=2', audio: 'sine=d=2' });
      expect(await boxOrder(path)).toEqual(['mdat', 'moov']);
      const proxy = await deriveFile('PROXY', path);
      if (!proxy) throw new Error('no proxy');
      expect(await boxOrder(entryPath(proxy))).toEqual(['moov', 'mdat']);
      expect(await packetDigest(entryPath(proxy))).toBe(await packetDigest(path));
    });

    it('encodes what browsers may not play, and drops what the camera wrote', async () => {
      const proxy = await derive('PROXY', {
        video: 'testsrc2=s=320x240:r=30:d=1',
        audio: 'sine=d=1',
        options: [
          ...['-c:v', 'mpeg4', '-c:a', 'libmp3lame', '-metadata', 'title=secret place'],
          ...['-metadata', 'location=+52.5+013.4/'],
        ],
      });
      const { streams } = await inspect(entryPath(proxy));
      expect(streams.map((stream) => stream['codec_name'])).toEqual(['h264', 'aac']);
      expect(streams[0]).toMatchObject({ pix_fmt: 'yuv420p', color_space: 'bt709' });
      expect((await readFile(entryPath(proxy))).includes('secret place')).toBe(false);
      expect(await boxOrder(entryPath(proxy))).toEqual(['moov', 'mdat']);
    });

    it.each([
      ['PQ', 'smpte2084'],
      ['HLG', 'arib-std-b67'],
    ])('brings %s down to bt709, 8 bits, with its colours', async (_, transfer) => {
      const colors = ['0x404040', '0x808080', '0x804020', '0x206040'];
      const patches = colors.map((color, at) => `color=c=${color}:s=64x128:r=10:d=1[p${at}]`);
      const proxy = await derive('PROXY', {
        video:
          `${patches.join(';')};[p0][p1][p2][p3]hstack=4,format=gbrp,` +
          `zscale=min=gbr:tin=709:pin=709:rin=pc:t=${transfer}:p=2020:m=2020_ncl:r=tv:npl=203,` +
          'format=yuv420p10le',
        options: [
          ...['-c:v', 'libx265', '-x265-params', 'log-level=error', '-preset', 'ultrafast'],
          ...['-crf', '10', '-color_primaries', 'bt2020', '-color_trc', transfer],
          ...['-colorspace', 'bt2020nc', '-tag:v', 'hvc1'],
        ],
      });
      expect((await inspect(entryPath(proxy))).streams[0]).toMatchObject({
        ...{ pix_fmt: 'yuv420p', color_space: 'bt709', color_transfer: 'bt709' },
        ...{ color_primaries: 'bt709', color_range: 'tv' },
      });
      const rgb = await readRgb(entryPath(proxy), { width: 8, height: 1 });
      const centres = colors.map((_color, at) => rgb.subarray(at * 6, at * 6 + 3));
      for (const [at, color] of colors.entries()) {
        const wanted = Buffer.from(color.slice(2), 'hex');
        const got = centres[at] ?? Buffer.alloc(3);
        for (const channel of [0, 1, 2]) {
          expect(Math.abs((got[channel] ?? 0) - (wanted[channel] ?? 0))).toBeLessThan(16);
        }
      }
    });
  });

  describe('HLS', () => {
    it('has a master that tells the truth, and renditions cut at the same key frames', async () => {
      const recipe = { video: 'testsrc2=s=1280x720:r=30:d=5', audio: 'sine=d=5' };
      const hls = await derive('HLS', recipe);
      const master = await readFile(entryPath(hls), 'utf8');
      const variants = [...master.matchAll(/^#EXT-X-STREAM-INF:(.*)\n(.*)$/gm)];
      expect(variants.map((variant) => variant[2])).toEqual(['high/index.m3u8', 'low/index.m3u8']);
      const durations: string[][] = [];
      for (const [, attributes = '', uri = ''] of variants) {
        const playlistPath = join(dirname(entryPath(hls)), uri);
        const playlist = await readFile(playlistPath, 'utf8');
        const segments = playlist.split('\n').filter((line) => line.endsWith('.ts'));
        const seconds = [...playlist.matchAll(/^#EXTINF:([\d.]+)/gm)].map(
          (match) => match[1] ?? '',
        );
        durations.push(seconds);
        const paths = segments.map((segment) => join(dirname(playlistPath), segment));
        const sizes = await Promise.all(paths.map(async (path) => (await readFile(path)).length));
        const rates = sizes.map((size, at) => (size * 8) / Number(seconds[at]));
        const video = await videoOf(paths[0] ?? '');
        expect(attributes).toContain(`RESOLUTION=${String(video.width)}x${String(video.height)}`);
        const level = Number(video['level']).toString(16);
        expect(attributes).toContain(`CODECS="avc1.4d40${level},mp4a.40.2"`);
        expect(attributes).toMatch(new RegExp(`^BANDWIDTH=${Math.ceil(Math.max(...rates))},`));
        for (const path of paths) expect(await keyFrameFlags(path)).toMatch(/^K_*$/);
      }
      expect(durations[0]).toEqual(durations[1]);
      expect(durations[0]).toHaveLength(3);
      expect(variants[0]?.[1]).toContain('RESOLUTION=1280x720');
      expect(variants[1]?.[1]).toContain('RESOLUTION=640x360');
    });

    it('works without sound, and never enlarges', async () => {
      const hls = await derive('HLS', { video: 'testsrc2=s=320x240:r=30:d=1' });
      const master = await readFile(entryPath(hls), 'utf8');
      expect(master.match(/RESOLUTION=\S+?(?=,)/g)).toEqual(['RESOLUTION=320x240']);
      expect(master).toMatch(/CODECS="avc1\.[0-9a-f]{6}"/);
    });
  });

  describe('thumbnail and storyboard', () => {
    const blackFirst =
      'color=c=black:s=320x240:r=30:d=1[a];color=c=green:s=320x240:r=30:d=1[b];[a][b]concat';

    it('skip a black first second', async () => {
      const thumbnail = await derive('THUMBNAIL', { video: blackFirst });
      const [red = 0, green = 0] = await readRgb(entryPath(thumbnail), { width: 1, height: 1 });
      expect(green).toBeGreaterThan(red + 60);
    });

    it('take a black frame when there is no other', async () => {
      const thumbnail = await derive('THUMBNAIL', { video: 'color=c=black:s=64x48:r=30:d=1' });
      expect(thumbnail.files[0]?.sizeBytes).toBeGreaterThan(0);
    });

    it('show for each cue the frame of its time', async () => {
      const sheet = await derive('STORYBOARD', { video: blackFirst });
      const index = await readFile(entryPath(sheet), 'utf8');
      expect(index).toBe(
        'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nstoryboard.jpg#xywh=0,0,160,120\n\n' +
          '00:00:01.000 --> 00:00:02.000\nstoryboard.jpg#xywh=160,0,160,120\n',
      );
      const rgb = await readRgb(join(outputDir, 'storyboard.jpg'), { width: 2, height: 1 });
      expect(rgb[1]).toBeLessThan(20);
      expect(rgb[4]).toBeGreaterThan(90);
    });
  });

  describe('the waveform', () => {
    it('rises and falls with the sound', async () => {
      const audio = 'sine=f=440:d=1,volume=0[a];sine=f=440:d=1[b];[a][b]concat=v=0:a=1';
      const { entry } = await derive('WAVEFORM', { video: 'color=s=64x48:r=10:d=2', audio });
      const waveform = JSON.parse(await readFile(join(outputDir, entry), 'utf8')) as {
        version: number;
        sampleRate: number;
        samplesPerPeak: number;
        peaks: number[];
      };
      expect(waveform).toMatchObject({ version: 1, sampleRate: 8000 });
      const perSecond = waveform.sampleRate / waveform.samplesPerPeak;
      expect(Math.abs(waveform.peaks.length / perSecond - 2)).toBeLessThan(0.2);
      expect(Math.max(...waveform.peaks.slice(0, perSecond * 0.9))).toBeLessThan(0.01);
      expect(Math.min(...waveform.peaks.slice(perSecond * 1.1, perSecond * 1.9))).toBeGreaterThan(
        0.05,
      );
      expect(Math.max(...waveform.peaks)).toBeLessThanOrEqual(1);
    });

    it('is null without sound', async () => {
      const path = await makeClip({ video: 'testsrc2=s=320x240:r=30:d=1' });
      expect(await deriveFile('WAVEFORM', path)).toBeNull();
    });
  });

  it('says that a file with nothing decodable in it is corrupt', async () => {
    const whole = await readFile(await makeClip({ video: 'testsrc2=s=320x240:r=30:d=1' }));
    const mdat = whole.indexOf('mdat');
    whole.fill(0, mdat + 8, whole.indexOf('moov') - 4);
    const path = await writeTemporary('a.mp4', whole);
    await expect(deriveFile('THUMBNAIL', path)).rejects.toMatchObject({ cause_kind: 'corrupt' });
  });
});

describe('a tool that never ends, ignores SIGTERM, forks and floods', () => {
  const startEndless = async (
    options: { timeLimitMs: number; signal?: AbortSignal },
    whenStarted?: () => void,
  ): Promise<void> => {
    const tool = await makeEndlessTool();
    const { ffprobe } = await fixtureTools();
    const tempDir = await mkdtemp(join(tmpdir(), 'toolkit-'));
    const outputDir = join(tempDir, 'output');
    const toolkit = createMediaToolkit({
      ffmpeg: tool.path,
      ffprobe,
      tempDir: join(tempDir, 'work'),
    });
    const path = await makeClip({ video: 'testsrc2=s=320x240:r=30:d=1' });
    const probed = await toolkit.probe(path, LIMITS);
    if (!probed.ok) throw new Error('fixture');
    const running = toolkit.derive('PROXY', { path, facts: probed.facts }, outputDir, options);
    running.catch(() => undefined); // Judged at the end.
    if (whenStarted) {
      while ((await tool.readPids()).length < 2) await new Promise((next) => setImmediate(next));
      whenStarted();
    }
    await Promise.allSettled([running]);
    const pids = await tool.readPids();
    expect(pids).toHaveLength(2);
    for (const pid of pids) expect(await isRunning(pid)).toBe(false);
    expect(await readdir(join(tempDir, 'work'))).toEqual([]);
    expect(await readdir(outputDir).catch(() => [])).toEqual([]);
    await rm(tempDir, { recursive: true });
    await rm(dirname(tool.path), { recursive: true });
    await running;
  };

  it('is ended with its whole group at the time limit, and leaves no file', async () => {
    await expect(startEndless({ timeLimitMs: 1500 })).rejects.toMatchObject({
      cause_kind: 'timeout',
    });
  });

  it('is ended so by the signal too', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const ended = startEndless({ timeLimitMs: TIME_LIMIT_MS, signal }, () => controller.abort());
    await expect(ended).rejects.toMatchObject({ cause_kind: 'cancelled' });
  });
});

const runFile = promisify(execFile);

async function videoOf(path: string): Promise<Readonly<Record<string, unknown>>> {
  const video = (await inspect(path)).streams.find((stream) => stream.codec_type === 'video');
  if (!video) throw new Error(`no pictures in ${path}`);
  return video;
}

async function firstSegment(hls: Derivative): Promise<string> {
  const segment = hls.files.find((file) => file.name.endsWith('.ts'));
  if (!segment) throw new Error('no segment');
  return segment.path;
}

async function boxOrder(path: string): Promise<string[]> {
  const bytes = await readFile(path);
  const places = ['moov', 'mdat'].map((type) => ({ type, at: bytes.indexOf(type) }));
  return places.sort((one, other) => one.at - other.at).map(({ type }) => type);
}

/** Of the coded pictures; equal means that nothing was encoded again. */
async function packetDigest(path: string): Promise<string> {
  const { ffmpeg } = await fixtureTools();
  const args = ['-v', 'error', '-i', path, '-map', '0:v', '-c', 'copy', '-f', 'md5', '-'];
  return (await runFile(ffmpeg, args)).stdout;
}

/** One sign per picture of a segment: `K` for a key frame. */
async function keyFrameFlags(path: string): Promise<string> {
  const { ffprobe } = await fixtureTools();
  const { stdout } = await runFile(ffprobe, [
    ...['-v', 'error', '-select_streams', 'v:0', '-show_entries', 'packet=flags'],
    ...['-of', 'csv=p=0', path],
  ]);
  return stdout.replace(/^(\w|_).*\n*/gm, '$1');
}

async function describeColors(path: string): Promise<string> {
  const rgb = await readRgb(path, { width: 2, height: 2 });
  const at = (index: number): string => {
    const [red = 0, , blue = 0] = rgb.subarray(index * 3, index * 3 + 3);
    return red > blue ? 'red' : 'blue';
  };
  const [topLeft, topRight, bottomLeft] = [at(0), at(1), at(2)];
  return topLeft === topRight ? `${topLeft} above ${bottomLeft}` : `${topLeft} left of ${topRight}`;
}
