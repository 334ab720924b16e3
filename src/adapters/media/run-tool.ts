import { spawn } from 'node:child_process';
import { MediaToolError } from '../../ports/media-toolkit';

export interface ToolRun {
  readonly path: string;
  readonly args: readonly string[];
  readonly timeLimitMs: number;
  readonly signal?: AbortSignal;
  /** Receives what the tool writes to its standard output; without it the output is discarded. */
  readonly onStdout?: (chunk: Buffer) => void;
}

export interface ToolExit {
  /** Null when the tool was ended by a signal that this module did not send. */
  readonly exitCode: number | null;
  /** The last part of standard error; earlier text is dropped while it runs. */
  readonly stderrTail: string;
}

const STDERR_TAIL_CHARACTERS = 8192;
const PIPE_GRACE_MS = 1000;

/**
 * Runs one tool in a process group of its own and waits until that group is gone.
 *
 * At the time limit or on `signal` the whole group gets SIGKILL, so a tool that ignores SIGTERM or
 * has forked leaves nothing running. The environment of the tool is empty: it has no use for our
 * secrets.
 *
 * @throws MediaToolError `timeout`, `cancelled`, or `tool` when the program cannot be started.
 */
export function runTool(run: ToolRun): Promise<ToolExit> {
  return new Promise((resolve, reject) => {
    if (run.signal?.aborted) {
      reject(new MediaToolError('cancelled before the tool was started', 'cancelled'));
      return;
    }
    const child = spawn(run.path, [...run.args], {
      detached: true,
      env: {},
      stdio: ['ignore', run.onStdout ? 'pipe' : 'ignore', 'pipe'],
    });
    let stderrTail = '';
    let stopped: MediaToolError | null = null;
    let pipeGrace: NodeJS.Timeout | undefined;

    const stop = (error: MediaToolError): void => {
      stopped ??= error;
      killGroup(child.pid);
    };
    const onAbort = (): void => stop(new MediaToolError('cancelled', 'cancelled'));
    const deadline = setTimeout(
      () => stop(new MediaToolError(`ended after ${run.timeLimitMs} ms`, 'timeout')),
      run.timeLimitMs,
    );
    run.signal?.addEventListener('abort', onAbort, { once: true });
    const release = (): void => {
      clearTimeout(deadline);
      clearTimeout(pipeGrace);
      run.signal?.removeEventListener('abort', onAbort);
    };

    child.stderr?.on('data', (chunk: Buffer) => {
      stderrTail = (stderrTail + chunk.toString('utf8')).slice(-STDERR_TAIL_CHARACTERS);
    });
    child.stdout?.on('data', (chunk: Buffer) => {
      try {
        run.onStdout?.(chunk);
      } catch (error) {
        stop(new MediaToolError(`output not understood: ${String(error)}`, 'tool'));
      }
    });
    child.once('error', (error) => {
      release();
      reject(new MediaToolError(`cannot start ${run.path}: ${error.message}`, 'tool'));
    });
    child.once('exit', () => {
      // What the tool forked is in its group still and would hold our pipes open.
      killGroup(child.pid);
      pipeGrace = setTimeout(() => {
        child.stderr?.destroy();
        child.stdout?.destroy();
      }, PIPE_GRACE_MS);
    });
    child.once('close', (exitCode) => {
      release();
      if (stopped) reject(stopped);
      else resolve({ exitCode, stderrTail });
    });
  });
}

function killGroup(leaderPid: number | undefined): void {
  if (leaderPid === undefined) return;
  try {
    process.kill(-leaderPid, 'SIGKILL');
  } catch (error) {
    // ESRCH: the group has ended by itself, which is what is wanted.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
