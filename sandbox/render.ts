import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runFfmpeg } from './ffmpeg';
import type { JobOutput, VideoRequest } from './job';
import { fetchPicture, uprightFilters } from './picture';
import type { Picture } from './picture';
import { composeScene, frameSizeOf } from './scene';
import type { FrameSize, Scene } from './scene';

const FRAMES_PER_SECOND = 25;
const TIMEOUT_MS = 300_000;

export interface RenderContext {
  readonly ffmpegPath: string;
  readonly outputDir: string;
  readonly signal: AbortSignal;
  /** 0–99; the end is told by the promise. */
  readonly onProgress: (progress: number) => void;
}

/**
 * Renders the clip of a request into `<outputDir>/<name>.mp4`: H.264 and, where asked for, AAC. Equal
 * requests give equal frames. Throws PictureError for the caller's image and FfmpegError otherwise.
 */
export async function renderVideo(
  request: VideoRequest,
  name: string,
  context: RenderContext,
): Promise<JobOutput> {
  const folder = join(context.outputDir, `${name}.parts`);
  await mkdir(folder, { recursive: true });
  try {
    const picture =
      request.image_url === null ? null : await fetchPicture(request.image_url, context.signal);
    const size = frameSizeOf(request);
    const scene = composeScene(request, size);
    await writeFile(join(folder, 'main'), picture?.bytes ?? scene.background.toPng());
    await writeFile(join(folder, 'sprite.png'), scene.sprite.toPng());
    await writeFile(join(folder, 'caption.png'), scene.caption.toPng());
    const partial = join(folder, 'video.mp4');
    await runFfmpeg(
      context.ffmpegPath,
      ffmpegArgs(request, size, scene, picture, folder, partial),
      {
        timeoutMs: TIMEOUT_MS,
        signal: context.signal,
        onOutTime: (ms) =>
          context.onProgress(Math.min(99, Math.floor((100 * ms) / request.duration_ms))),
      },
    );
    const path = join(context.outputDir, `${name}.mp4`);
    await rename(partial, path);
    return await describeOutput(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export async function describeOutput(path: string): Promise<JobOutput> {
  const bytes = await readFile(path);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { path, sizeBytes: bytes.length, sha256 };
}

function ffmpegArgs(
  request: VideoRequest,
  size: FrameSize,
  scene: Scene,
  picture: Picture | null,
  folder: string,
  output: string,
): string[] {
  const seconds = (request.duration_ms / 1000).toFixed(3);
  const frames = Math.max(1, Math.round((request.duration_ms * FRAMES_PER_SECOND) / 1000));
  const tone = `sine=frequency=${scene.toneHz}:sample_rate=48000:duration=${seconds}`;
  return [
    ...['-hide_banner', '-nostdin', '-y', '-v', 'error', '-progress', 'pipe:1'],
    // The demuxer is named, so a file that lies about what it is cannot choose another one.
    ...['-noautorotate', '-f', picture?.demuxer ?? 'png_pipe', '-i', join(folder, 'main')],
    ...['-f', 'png_pipe', '-i', join(folder, 'sprite.png')],
    ...['-f', 'png_pipe', '-i', join(folder, 'caption.png')],
    ...(request.audio ? ['-f', 'lavfi', '-i', tone] : []),
    ...['-filter_complex', filterGraph(size, scene, picture, frames, seconds), '-map', '[video]'],
    ...(request.audio ? ['-map', '3:a', '-c:a', 'aac', '-b:a', '96k', '-ac', '2'] : ['-an']),
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-r', '25', '-g', '50'],
    // A fixed number of threads and no version strings: the same request gives the same bytes.
    ...['-threads', '2', '-fflags', '+bitexact', '-flags:v', '+bitexact', '-flags:a', '+bitexact'],
    ...['-t', seconds, '-map_metadata', '-1', '-f', 'mp4', output],
  ];
}

function filterGraph(
  size: FrameSize,
  scene: Scene,
  picture: Picture | null,
  frames: number,
  seconds: string,
): string {
  const main = picture ? zoomOver(size, picture, frames) : panOver(size, scene, frames, seconds);
  const wave = (turns: number, phase: number): string =>
    `(0.5+0.5*sin(2*PI*${turns}*t/${seconds}+${phase.toFixed(4)}))`;
  const x = `(W-w)*${wave(scene.turnsX, scene.phase)}`;
  const y = `(H-h)*0.75*${wave(scene.turnsY, scene.phase / 2)}`;
  return [
    `[0:v]${main},format=yuv420p[main]`,
    `[main][1:v]overlay=x='${x}':y='${y}'[moving]`,
    `[moving][2:v]overlay=x=0:y=H-h,format=yuv420p[video]`,
  ].join(';');
}

/** One still frame repeated, wandering inside a picture a quarter larger than the frame. */
function panOver(size: FrameSize, scene: Scene, frames: number, seconds: string): string {
  const angle = `2*PI*t/${seconds}+${scene.phase.toFixed(4)}`;
  return [
    `scale=${even(size.width * 1.25)}:${even(size.height * 1.25)}:flags=bicubic`,
    'setsar=1',
    'format=yuv420p',
    `loop=loop=${frames}:size=1:start=0`,
    `setpts=N/(${FRAMES_PER_SECOND}*TB)`,
    `crop=${size.width}:${size.height}:x='(iw-ow)*(0.5+0.5*sin(${angle}))':y='(ih-oh)*(0.5+0.5*cos(${angle}))'`,
  ].join(',');
}

/** The given picture fills the frame and comes slowly nearer. */
function zoomOver(size: FrameSize, picture: Picture, frames: number): string {
  // Zooming inside a larger picture keeps the steps of the zoom below a visible pixel.
  const width = even(size.width * 1.5);
  const height = even(size.height * 1.5);
  return [
    ...uprightFilters(picture.orientation),
    `scale=${width}:${height}:force_original_aspect_ratio=increase`,
    `crop=${width}:${height}`,
    'setsar=1',
    'format=yuv444p',
    // An animated picture counts by its first frame alone.
    'trim=end_frame=1',
    `zoompan=z='1+0.2*on/${frames}':x='iw/2-iw/zoom/2':y='ih/2-ih/zoom/2':d=${frames}:s=${size.width}x${size.height}:fps=${FRAMES_PER_SECOND}`,
  ].join(',');
}

function even(length: number): number {
  return Math.round(length / 2) * 2;
}
