import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  MediaToolError,
  type DerivedFile,
  type Derivative,
  type FrameRate,
} from '../../ports/media-toolkit';
import { commandFor, describeFile, runCommand, type DeriveRun } from './derive-run';
import {
  measureRendition,
  raiseTargetDuration,
  writeMaster,
  type MeasuredRendition,
} from './hls-master';
import { fitEven, SDR_TAGS, sdrFilters } from './picture-filters';
import type { PictureSize } from './header';

const SEGMENT_S = 2;
const FRAME_RATE_MAX = 60;
const PLAYLIST_NAME = 'index.m3u8';
const PLAYLIST_TYPE = 'application/vnd.apple.mpegurl';

interface Rendition {
  readonly folder: string;
  readonly size: PictureSize;
  readonly videoKbit: number;
}

/** HLS with MPEG-TS segments, one or two renditions, cut at the same key frames in each. */
export async function makeHls(run: DeriveRun): Promise<Derivative> {
  const renditions = chooseRenditions(run.facts);
  const rate = chooseFrameRate(run.video.frameRate);
  for (const { folder } of renditions) {
    await mkdir(join(run.workDir, 'hls', folder), { recursive: true });
  }
  await runCommand(run, buildCommand(run, renditions, rate));

  const files: DerivedFile[] = [];
  const measured: MeasuredRendition[] = [];
  for (const { folder, size } of renditions) {
    const playlistPath = join(run.workDir, 'hls', folder, PLAYLIST_NAME);
    await raiseTargetDuration(playlistPath);
    const segments = await describeSegments(run, `hls/${folder}`);
    files.push(
      await describeFile(run, `hls/${folder}/${PLAYLIST_NAME}`, PLAYLIST_TYPE),
      ...segments,
    );
    measured.push(
      await measureRendition({
        ...{ folder, size, playlistPath, segments },
        framesPerSecond: rate.numerator / rate.denominator,
        hasAudio: run.streams.audioCodec !== null,
      }),
    );
  }
  await writeFile(join(run.workDir, 'hls/master.m3u8'), writeMaster(measured));
  files.unshift(await describeFile(run, 'hls/master.m3u8', PLAYLIST_TYPE));
  const best = renditions[0];
  if (!best) throw new MediaToolError('no rendition was chosen', 'tool');
  return {
    kind: 'HLS',
    entry: 'hls/master.m3u8',
    files,
    facts: { ...best.size, durationMs: run.facts.durationMs, frameRate: run.facts.frameRate },
  };
}

/** 720 and 360 lines on the short side, so that an upright picture is as sharp as a wide one. */
function chooseRenditions(source: PictureSize): Rendition[] {
  const high = fitEven(source, 720, 2560);
  const low = fitEven(source, 360, 1280);
  const renditions: Rendition[] = [{ folder: 'high', size: high, videoKbit: 2800 }];
  if (low.height < high.height) renditions.push({ folder: 'low', size: low, videoKbit: 700 });
  return renditions;
}

/** A constant frame rate puts the key frames of all renditions at equal times. */
function chooseFrameRate(source: FrameRate | null): FrameRate {
  if (source === null) return { numerator: 30, denominator: 1 };
  const tooFast = source.numerator / source.denominator > FRAME_RATE_MAX;
  return tooFast ? { numerator: FRAME_RATE_MAX, denominator: 1 } : source;
}

function buildCommand(
  run: DeriveRun,
  renditions: readonly Rendition[],
  rate: FrameRate,
): ReturnType<typeof commandFor> {
  const command = commandFor(run).complexFilter(buildGraph(run, renditions, rate));
  for (const [index, rendition] of renditions.entries()) {
    const folder = join(run.workDir, 'hls', rendition.folder);
    command
      .output(join(folder, PLAYLIST_NAME))
      .outputOptions(
        ...['-map', `[v${index}]`, '-map', '0:a:0?'],
        ...videoOptions(rendition.videoKbit),
        ...['-c:a', 'aac', '-b:a', '128k', '-ac', '2', '-ar', '48000', '-map_metadata', '-1'],
        ...['-f', 'hls', '-hls_time', String(SEGMENT_S), '-hls_list_size', '0'],
        ...['-hls_playlist_type', 'vod', '-hls_flags', 'independent_segments'],
        ...['-hls_segment_filename', join(folder, 'segment-%05d.ts')],
      );
  }
  return command;
}

/** One decode feeds all renditions. */
function buildGraph(run: DeriveRun, renditions: readonly Rendition[], rate: FrameRate): string {
  const split = renditions.map((_, index) => `[s${index}]`).join('');
  const branches = renditions.map(({ size }, index) => {
    const filters = sdrFilters(run.video, size, run.support).join(',');
    return `[s${index}]${filters}[v${index}]`;
  });
  return [
    `[0:v:0]fps=${rate.numerator}/${rate.denominator},split=${renditions.length}${split}`,
    ...branches,
  ].join(';');
}

function videoOptions(videoKbit: number): string[] {
  return [
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '23', '-profile:v', 'main'],
    ...['-maxrate', `${videoKbit}k`, '-bufsize', `${videoKbit * 2}k`],
    ...['-pix_fmt', 'yuv420p', ...SDR_TAGS],
    // Key frames at every segment border and nowhere else; GOPs closed.
    ...['-force_key_frames', `expr:gte(t,n_forced*${SEGMENT_S})`],
    ...['-g', '100000', '-sc_threshold', '0', '-flags', '+cgop'],
  ];
}

async function describeSegments(run: DeriveRun, folder: string): Promise<DerivedFile[]> {
  const names = await readdir(join(run.workDir, folder));
  const files: DerivedFile[] = [];
  for (const name of names.filter((one) => one.endsWith('.ts')).sort()) {
    files.push(await describeFile(run, `${folder}/${name}`, 'video/mp2t'));
  }
  return files;
}
