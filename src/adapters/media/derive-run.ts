import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import createCommand, { type FfmpegCommand } from 'fluent-ffmpeg';
import { MediaToolError, type DerivedFile, type MediaFacts } from '../../ports/media-toolkit';
import type { MediaMime } from './media-type';
import type { FilterSupport } from './picture-filters';
import { inputGuard, type Streams, type VideoStream } from './read-streams';
import { runTool, type ToolRun } from './run-tool';

/** One derivation under way: what is read, where it writes, and how long it may take. */
export interface DeriveRun {
  readonly ffmpeg: string;
  readonly ffprobe: string;
  readonly path: string;
  readonly mime: MediaMime;
  readonly facts: MediaFacts;
  readonly streams: Streams;
  readonly video: VideoStream;
  readonly support: FilterSupport;
  /** A folder of this run alone; its files become the result. */
  readonly workDir: string;
  /** What is left of the time limit. */
  readonly timeLeftMs: () => number;
  readonly signal?: AbortSignal;
}

/** A decoder may meet a larger picture in mid-stream; twice the stated size is the end. */
const PIXELS_MARGIN = 2;
const PIXELS_MIN = 1_000_000;

/**
 * Starts a command that reads the input of `run`. fluent-ffmpeg serves as the builder of argument
 * lists only: it hides the spawn options that killing the whole process group needs.
 */
export function commandFor(run: DeriveRun, ...inputOptions: readonly string[]): FfmpegCommand {
  const { codedWidth, codedHeight } = run.video;
  const pixelsMax = Math.max(PIXELS_MIN, codedWidth * codedHeight * PIXELS_MARGIN);
  const options = [...GLOBAL_OPTIONS, ...inputGuard(run.mime, pixelsMax), ...inputOptions];
  // Spread out, since fluent-ffmpeg splits the members of one array at their spaces.
  return createCommand()
    .input(`file:${run.path}`)
    .inputOptions(...options);
}

const GLOBAL_OPTIONS = ['-nostdin', '-hide_banner', '-v', 'error'];

/** Runs the command to its end. Throws `MediaToolError` `corrupt` when the input is to blame. */
export async function runCommand(
  run: DeriveRun,
  command: FfmpegCommand,
  onStdout?: ToolRun['onStdout'],
): Promise<void> {
  const exit = await runTool({
    path: run.ffmpeg,
    args: command._getArguments(),
    timeLimitMs: run.timeLeftMs(),
    ...(run.signal ? { signal: run.signal } : {}),
    ...(onStdout ? { onStdout } : {}),
  });
  if (exit.exitCode === 0) return;
  const said = exit.stderrTail.replaceAll(run.path, 'input').replaceAll(run.workDir, 'output');
  const toBlame =
    exit.exitCode !== null && INPUT_IS_TO_BLAME.test(said) && !HOST_IS_SHORT.test(said);
  throw new MediaToolError(
    `ffmpeg ended with ${exit.exitCode ?? 'a signal'}: ${said.trim()}`,
    toBlame ? 'corrupt' : 'tool',
  );
}

const INPUT_IS_TO_BLAME =
  /Invalid data found|moov atom not found|Error while decoding|error decoding|does not contain any stream|matches no streams|Picture size|Could not find codec parameters|partial file/i;
const HOST_IS_SHORT = /No space left|Cannot allocate memory|Permission denied|Too many open files/i;

/** Describes one finished file of the working folder. */
export async function describeFile(
  run: DeriveRun,
  name: string,
  contentType: string,
): Promise<DerivedFile> {
  const path = join(run.workDir, name);
  const { size: sizeBytes } = await stat(path);
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return { name, path, contentType, sizeBytes, sha256: hash.digest('hex') };
}

export async function hasContent(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.size > 0,
    () => false,
  );
}
