import { spawn } from 'node:child_process';
import { accessSync, chmodSync, constants, copyFileSync, mkdirSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';

export class FfmpegError extends Error {}

/**
 * The path of an ffmpeg that can be started: the one given, else the first on the PATH, else the
 * build of npm's @ffmpeg-installer. Throws FfmpegError when there is none.
 */
export function findFfmpeg(given: string | null, searchPath: string, dataDir: string): string {
  if (given !== null) return makeExecutable(given, dataDir);
  for (const folder of searchPath.split(delimiter)) {
    const candidate = join(folder, process.platform === 'win32' ? 'ffmpeg.exe' : 'ffmpeg');
    if (folder !== '' && isExecutable(candidate)) return candidate;
  }
  return makeExecutable(packagedFfmpeg(), dataDir);
}

function packagedFfmpeg(): string {
  try {
    // It throws on a platform for which it has no build.
    return (require('@ffmpeg-installer/ffmpeg') as { path: string }).path;
  } catch (error) {
    throw new FfmpegError(`no ffmpeg on the PATH and none from npm: ${String(error)}`);
  }
}

/** npm may leave the executable bit unset; where it cannot be set in place, a copy gets it. */
function makeExecutable(path: string, dataDir: string): string {
  if (isExecutable(path)) return path;
  try {
    chmodSync(path, 0o755);
    return path;
  } catch {
    const copy = join(dataDir, 'bin', basename(path));
    mkdirSync(join(dataDir, 'bin'), { recursive: true });
    try {
      copyFileSync(path, copy);
      chmodSync(copy, 0o755);
    } catch (error) {
      throw new FfmpegError(`cannot make ${path} executable: ${String(error)}`);
    }
    return copy;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const STDERR_CHARACTERS_MAX = 4000;

/**
 * Runs one ffmpeg to its end. `onOutTime` gets the position in the output in milliseconds. Rejects
 * with FfmpegError when it fails, is aborted or runs longer than `timeoutMs`.
 */
export function runFfmpeg(
  path: string,
  args: readonly string[],
  options: {
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
    readonly onOutTime: (ms: number) => void;
  },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(path, [...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let complaints = '';
    const kill = (): void => void child.kill('SIGKILL');
    const timer = setTimeout(kill, options.timeoutMs);
    options.signal.addEventListener('abort', kill, { once: true });
    if (options.signal.aborted) kill();
    const settle = (error: FfmpegError | null): void => {
      clearTimeout(timer);
      options.signal.removeEventListener('abort', kill);
      if (error) reject(error);
      else resolve();
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      // The field is called out_time_ms in every build and holds microseconds in every build.
      const micros = /out_time_ms=(\d+)/.exec(text)?.[1];
      if (micros !== undefined) options.onOutTime(Number(micros) / 1000);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaints = (complaints + text).slice(-STDERR_CHARACTERS_MAX);
    });
    child.once('error', (error) => settle(new FfmpegError(error.message)));
    child.once('close', (code, killedBy) => {
      if (code === 0) settle(null);
      else settle(new FfmpegError(`ffmpeg ended with ${killedBy ?? code}: ${complaints.trim()}`));
    });
  });
}
