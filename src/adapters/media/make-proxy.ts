import { join } from 'node:path';
import type { Derivative } from '../../ports/media-toolkit';
import { commandFor, describeFile, runCommand, type DeriveRun } from './derive-run';
import { fitEven, isWideGamut, SDR_TAGS, sdrFilters } from './picture-filters';

const FILE_NAME = 'proxy.mp4';
/** Above this H.264 has no level that players decode. */
const LONG_SIDE_MAX = 4096;
const SHORT_SIDE_MAX = 2304;

/** An MP4 that every browser plays: remuxed when the input complies already, else encoded again. */
export async function makeProxy(run: DeriveRun): Promise<Derivative> {
  const size = fitEven(run.facts, SHORT_SIDE_MAX, LONG_SIDE_MAX);
  const options = isCompliant(run) ? ['-c', 'copy'] : encodeOptions();
  const command = commandFor(run)
    .output(join(run.workDir, FILE_NAME))
    .outputOptions(
      ...['-map', '0:v:0', '-map', '0:a:0?', '-sn', '-dn'],
      ...options,
      // Place and device of the camera are nobody's business downstream.
      ...['-map_metadata', '-1', '-movflags', '+faststart', '-f', 'mp4'],
    );
  if (!isCompliant(run)) command.videoFilters(sdrFilters(run.video, size, run.support).join(','));
  await runCommand(run, command);
  return {
    kind: 'PROXY',
    entry: FILE_NAME,
    files: [await describeFile(run, FILE_NAME, 'video/mp4')],
    facts: { ...size, durationMs: run.facts.durationMs, frameRate: run.facts.frameRate },
  };
}

/** Encoding is what costs; what a browser plays as it is, is only packed anew. */
function isCompliant(run: DeriveRun): boolean {
  const { video, facts, streams } = run;
  const fits = fitEven(facts, SHORT_SIDE_MAX, LONG_SIDE_MAX);
  return (
    video.codec === 'h264' &&
    video.pixelFormat === 'yuv420p' &&
    video.rotation === 0 &&
    video.pixelAspect === 1 &&
    !video.interlaced &&
    !isWideGamut(video) &&
    fits.width === video.codedWidth &&
    fits.height === video.codedHeight &&
    (streams.audioCodec === null || streams.audioCodec === 'aac')
  );
}

function encodeOptions(): string[] {
  return [
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '20', '-profile:v', 'high'],
    ...['-pix_fmt', 'yuv420p', ...SDR_TAGS],
    ...['-c:a', 'aac', '-b:a', '160k', '-ac', '2', '-ar', '48000'],
  ];
}
