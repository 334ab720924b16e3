import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SlowTool {
  readonly path: string;
  /** The process ids that the tool has written down of itself and of what it has forked. */
  readonly readPids: () => Promise<number[]>;
}

/**
 * A tool in place of ffmpeg that never ends: it ignores SIGTERM, forks, floods standard error and
 * writes a half-finished file to its last argument.
 */
export async function makeEndlessTool(): Promise<SlowTool> {
  const dir = await mkdtemp(join(tmpdir(), 'endless-'));
  const pidsFile = join(dir, 'pids');
  const path = join(dir, 'ffmpeg');
  await writeFile(
    path,
    [
      '#!/bin/bash',
      "trap '' TERM INT HUP",
      `(trap '' TERM; echo $BASHPID >> ${pidsFile}; while :; do /bin/sleep 1; done) &`,
      'echo half > "${@: -1}"',
      `echo $$ >> ${pidsFile}`,
      'while :; do echo "a line of noise, again and again, until the pipe is full" >&2; done',
    ].join('\n'),
  );
  await chmod(path, 0o755);
  const readPids = async (): Promise<number[]> =>
    (await readFile(pidsFile, 'utf8').catch(() => '')).split('\n').filter(Boolean).map(Number);
  return { path, readPids };
}

/** True while the process exists and is not a zombie that waits for init. */
export async function isRunning(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return status !== null && !/\) Z /.test(status);
}
