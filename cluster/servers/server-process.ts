import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync, closeSync } from 'node:fs';

/** A program of its own group of files that is started, killed, and started again with the same arguments. */
export interface ServerProcess {
  readonly pid: number | null;
  start(): void;
  /** SIGSTOP and SIGCONT answer at once, any other signal when the process is gone. */
  kill(signal: NodeJS.Signals): Promise<void>;
  readonly isRunning: () => boolean;
}

/** What the program writes is appended to `logFile`. It runs as this process does, or as the user given, which only root may ask for. */
export const serverProcess = (
  command: string,
  args: readonly string[],
  logFile: string,
  user: { readonly uid?: number; readonly gid?: number } = {},
): ServerProcess => {
  let child: ChildProcess | null = null;
  const isRunning = (): boolean =>
    child !== null && child.exitCode === null && child.signalCode === null;
  return {
    get pid() {
      return isRunning() ? (child?.pid ?? null) : null;
    },
    isRunning,
    start: () => {
      if (isRunning()) throw new Error(`${command} runs already`);
      const output = openSync(logFile, 'a');
      child = spawn(command, [...args], { stdio: ['ignore', output, output], ...user });
      // A program that is missing shows as one that never answers, with this line in its log.
      child.once('error', () => undefined);
      closeSync(output);
    },
    kill: async (signal) => {
      if (child === null || !isRunning()) return;
      if (signal === 'SIGSTOP' || signal === 'SIGCONT') {
        child.kill(signal);
        return;
      }
      const gone = once(child, 'exit');
      child.kill(signal);
      await gone;
    },
  };
};
