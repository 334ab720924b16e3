import { copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  MediaToolError,
  type Derivative,
  type DerivativeKind,
  type DerivedFile,
  type MediaToolkit,
} from '../../ports/media-toolkit';
import type { DeriveRun } from './derive-run';
import { makeHls } from './make-hls';
import { makeProxy } from './make-proxy';
import { makeStoryboard } from './make-storyboard';
import { makeThumbnail } from './make-thumbnail';
import { makeWaveform } from './make-waveform';
import { isAccepted } from './media-type';
import { isWideGamut, type FilterSupport } from './picture-filters';
import { probeMedia } from './probe-media';
import { readStreams } from './read-streams';
import { runTool } from './run-tool';

export interface MediaToolkitOptions {
  /** Absolute paths, as `locateMediaTools` answers them. */
  readonly ffmpeg: string;
  readonly ffprobe: string;
  /** Working files live here during a call; best on the file system of the output folders. */
  readonly tempDir: string;
  readonly probeTimeLimitMs?: number;
}

type Input = Parameters<MediaToolkit['derive']>[1];
type DeriveOptions = Parameters<MediaToolkit['derive']>[3];
type Maker = (run: DeriveRun) => Promise<Derivative | null>;

const PROBE_TIME_LIMIT_MS = 20_000;

const MAKERS: Readonly<Record<DerivativeKind, Maker>> = {
  PROXY: makeProxy,
  HLS: makeHls,
  THUMBNAIL: makeThumbnail,
  STORYBOARD: makeStoryboard,
  WAVEFORM: makeWaveform,
};

/** What each kind writes at the top of the output folder; removed before a new result is put. */
const OUTPUT_NAMES: Readonly<Record<DerivativeKind, readonly string[]>> = {
  PROXY: ['proxy.mp4'],
  HLS: ['hls'],
  THUMBNAIL: ['thumbnail.jpg'],
  STORYBOARD: ['storyboard.jpg', 'storyboard.vtt'],
  WAVEFORM: ['waveform.json'],
};

/** The media toolkit on ffmpeg and ffprobe; the contract is at the port. */
export function createMediaToolkit(options: MediaToolkitOptions): MediaToolkit {
  const probeTimeLimitMs = options.probeTimeLimitMs ?? PROBE_TIME_LIMIT_MS;
  return {
    probe: (path, limits) => probeMedia(options.ffprobe, path, limits, probeTimeLimitMs),
    derive: async (kind, input, outputDir, deriveOptions) => {
      const deadlineMs = performance.now() + deriveOptions.timeLimitMs;
      // A still picture has nothing to play; only the thumbnail is made of it.
      if (input.facts.kind === 'image' && kind !== 'THUMBNAIL') return null;
      await mkdir(options.tempDir, { recursive: true });
      const workDir = await mkdtemp(join(options.tempDir, 'derive-'));
      try {
        const run = await prepareRun(options, input, deriveOptions, {
          workDir,
          timeLeftMs: () => Math.max(1, Math.ceil(deadlineMs - performance.now())),
        });
        const derivative = await MAKERS[kind](run);
        return derivative === null ? null : await publish(derivative, outputDir);
      } finally {
        await rm(workDir, { recursive: true, force: true });
      }
    },
  };
}

async function prepareRun(
  options: MediaToolkitOptions,
  input: Input,
  deriveOptions: DeriveOptions,
  parts: Pick<DeriveRun, 'workDir' | 'timeLeftMs'>,
): Promise<DeriveRun> {
  const { path, facts } = input;
  const { mime } = facts;
  if (!isAccepted(mime)) throw new MediaToolError(`cannot derive from ${mime}`, 'corrupt');
  const signal = deriveOptions.signal ? { signal: deriveOptions.signal } : {};
  const result = await readStreams({
    ffprobe: options.ffprobe,
    path,
    mime,
    timeLimitMs: parts.timeLeftMs(),
    pixelsMax: Math.max(1_000_000, facts.width * facts.height * 4),
    ...signal,
  });
  if (!result.ok) throw new MediaToolError(`unreadable input: ${result.detail}`, 'corrupt');
  const { streams } = result;
  const { video } = streams;
  if (video === null) throw new MediaToolError('no picture stream', 'corrupt');
  const { ffmpeg, ffprobe } = options;
  const run = { ffmpeg, ffprobe, path, mime, facts, streams, video, ...parts, ...signal };
  const support = isWideGamut(video) ? await readFilterSupport(run) : NO_TONE_MAPPING;
  return { ...run, support };
}

/** Puts the finished files in place of those of an earlier run. */
async function publish(derivative: Derivative, outputDir: string): Promise<Derivative> {
  for (const name of OUTPUT_NAMES[derivative.kind]) {
    await rm(join(outputDir, name), { recursive: true, force: true });
  }
  const files: DerivedFile[] = [];
  for (const file of derivative.files) {
    const path = join(outputDir, file.name);
    await mkdir(dirname(path), { recursive: true });
    await moveFile(file.path, path);
    files.push({ ...file, path });
  }
  return { ...derivative, files };
}

async function moveFile(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    // Folders on two file systems: copied, and the working folder is removed by the caller.
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await copyFile(from, to);
  }
}

/** Asked only for the pictures that need it; a build without the filters converts plainly. */
async function readFilterSupport(run: Omit<DeriveRun, 'support'>): Promise<FilterSupport> {
  const chunks: Buffer[] = [];
  await runTool({
    path: run.ffmpeg,
    args: ['-hide_banner', '-filters'],
    timeLimitMs: run.timeLeftMs(),
    onStdout: (chunk) => chunks.push(chunk),
    ...(run.signal ? { signal: run.signal } : {}),
  });
  const listed = Buffer.concat(chunks).toString('utf8');
  return { toneMapping: / zscale /.test(listed) && / tonemap /.test(listed) };
}

const NO_TONE_MAPPING: FilterSupport = { toneMapping: false };
