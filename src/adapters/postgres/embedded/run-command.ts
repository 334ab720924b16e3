import { spawn } from 'node:child_process';

import type { ServerUser } from './server-user';

/**
 * The children get this environment and nothing else, so that PGDATA, PGPORT, PGSERVICE and the
 * like in the caller's shell cannot redirect the server. (Windows adds its own required variables.)
 */
const CHILD_ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' };

export interface CommandResult {
  /** Exit code; -1 when the program could not be started or died by a signal. */
  readonly code: number;
  /** Standard output and standard error, in the order they arrived. */
  readonly output: string;
}

export interface CommandOptions {
  readonly user: ServerUser;
  readonly workingFolder: string;
  /** A daemon keeps inherited pipes open for as long as it lives; then the output must be dropped. */
  readonly leavesDaemon?: boolean;
}

/** Runs a program to its end, as the server's user and never through a shell. Does not throw. */
export function runCommand(
  program: string,
  argumentList: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
  const { user, workingFolder, leavesDaemon = false } = options;
  const outputMode = leavesDaemon ? 'ignore' : 'pipe';
  return new Promise((resolve) => {
    const child = spawn(program, argumentList, {
      cwd: workingFolder,
      env: CHILD_ENVIRONMENT,
      stdio: ['ignore', outputMode, outputMode],
      windowsHide: true,
      ...(user.switchTo === undefined ? {} : { uid: user.switchTo.uid, gid: user.switchTo.gid }),
    });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output += chunk.toString('utf8');
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.on('error', (error) => resolve({ code: -1, output: `${output}${error.message}` }));
    child.on('close', (code) => resolve({ code: code ?? -1, output }));
  });
}
