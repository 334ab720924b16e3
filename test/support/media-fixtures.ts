import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  locateMediaTools,
  makeExecutable,
  type MediaTools,
} from '../../src/adapters/media/locate-ffmpeg';

const runFile = promisify(execFile);
const CACHE_DIR = join(tmpdir(), 'aivedio-media-fixtures');

/** A clip to make: lavfi sources, the options of the encoder, and the extension of the container. */
export interface ClipRecipe {
  /** A lavfi graph, e.g. `testsrc2=s=320x240:r=30:d=2`; null for a clip without pictures. */
  readonly video: string | null;
  /** A lavfi graph, e.g. `sine=f=440:d=2`; null for a silent clip. */
  readonly audio?: string | null;
  readonly options?: readonly string[];
  readonly extension?: 'mp4' | 'mov' | 'webm' | 'jpg' | 'png' | 'webp';
  /** Written into the display matrix: degrees clockwise that a player has to turn the picture. */
  readonly rotation?: 90 | 180 | 270;
}

const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac'];

/** Makes the clip once and keeps it in the temporary folder by the hash of its recipe. */
export async function makeClip(recipe: ClipRecipe): Promise<string> {
  const { ffmpeg, version } = await fixtureTools();
  const key = createHash('sha256').update(JSON.stringify({ recipe, version })).digest('hex');
  const extension = recipe.extension ?? 'mp4';
  const path = join(CACHE_DIR, `${key.slice(0, 24)}.${extension}`);
  if (await exists(path)) return path;
  await mkdir(CACHE_DIR, { recursive: true });
  const partial = join(CACHE_DIR, `partial-${process.pid}-${key.slice(0, 24)}.${extension}`);
  const inputs = [recipe.video, recipe.audio ?? null].filter((graph) => graph !== null);
  await runFile(ffmpeg, [
    ...['-v', 'error', '-nostdin', '-y'],
    ...inputs.flatMap((graph) => ['-f', 'lavfi', '-i', graph]),
    ...(recipe.options ?? H264),
    partial,
  ]);
  if (recipe.rotation !== undefined) await turn(partial, recipe.rotation);
  await rename(partial, path);
  return path;
}

/** The first two rows of the display matrix for a picture that is to be turned clockwise. */
const MATRICES = {
  90: [0, 0x10000, 0, -0x10000, 0, 0],
  180: [-0x10000, 0, 0, 0, -0x10000, 0],
  270: [0, -0x10000, 0, 0x10000, 0, 0],
} as const;

/** Writes the display matrix as cameras do; versions of ffmpeg differ in how they can be told to. */
async function turn(path: string, rotation: 90 | 180 | 270): Promise<void> {
  const bytes = await readFile(path);
  const matrixAt = bytes.indexOf('tkhd') + 44;
  for (const [index, value] of MATRICES[rotation].entries()) {
    bytes.writeInt32BE(value, matrixAt + index * 4);
  }
  await writeFile(path, bytes);
}

let found: Promise<MediaTools> | null = null;

/** The tools that make the fixtures and measure the results. */
export function fixtureTools(): Promise<MediaTools> {
  found ??= locateMediaTools({ cacheDir: CACHE_DIR });
  return found;
}

export interface NamedTools {
  readonly name: string;
  readonly ffmpeg: string;
  readonly ffprobe: string;
}

/** Every pair of tools of this machine, so that the suite runs on the oldest and the newest. */
export async function allTools(): Promise<NamedTools[]> {
  const located = await fixtureTools();
  const npm = await npmTools();
  if (located.ffmpeg === npm.ffmpeg) return [npm];
  return [{ name: 'path', ffmpeg: located.ffmpeg, ffprobe: located.ffprobe }, npm];
}

export async function npmTools(): Promise<NamedTools> {
  const requireHere = createRequire(__filename);
  const pathOf = (name: string): string => (requireHere(name) as { path: string }).path;
  return {
    name: 'npm',
    ffmpeg: await makeExecutable(pathOf('@ffmpeg-installer/ffmpeg'), CACHE_DIR),
    ffprobe: await makeExecutable(pathOf('@ffprobe-installer/ffprobe'), CACHE_DIR),
  };
}

/** Streams and format of a file as ffprobe reports them. */
export async function inspect(path: string): Promise<Inspection> {
  const { ffprobe } = await fixtureTools();
  const { stdout } = await runFile(ffprobe, [
    ...['-v', 'error', '-of', 'json', '-show_streams', '-show_format', path],
  ]);
  return JSON.parse(stdout) as Inspection;
}

export interface Inspection {
  readonly streams: readonly (Readonly<Record<string, unknown>> & {
    readonly codec_type: string;
    readonly side_data_list?: readonly Readonly<Record<string, unknown>>[];
  })[];
  readonly format: Readonly<Record<string, unknown>>;
}

/** One frame, scaled to `width`x`height`, as 8-bit RGB rows. */
export async function readRgb(
  path: string,
  size: { readonly width: number; readonly height: number },
  atS = 0,
): Promise<Buffer> {
  const { ffmpeg } = await fixtureTools();
  const { stdout } = await runFile(
    ffmpeg,
    [
      ...['-v', 'error', '-nostdin', '-i', path, '-ss', String(atS), '-frames:v', '1'],
      // To RGB first: at so small a size neighbouring patches would share their chroma.
      ...['-vf', `format=rgb24,scale=${size.width}:${size.height}:flags=area`],
      ...['-pix_fmt', 'rgb24', '-f', 'rawvideo', 'pipe:1'],
    ],
    { encoding: 'buffer', maxBuffer: 64_000_000 },
  );
  return stdout;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
