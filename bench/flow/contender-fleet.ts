import { fork, type ChildProcess } from 'node:child_process';
import path from 'node:path';

import type { Answer, ContenderSetup, Load, LoadResult, Question } from './bench-protocol';

const STOP_LIMIT_MS = 60_000;

/** The processes of one contender; the first takes the load. */
export interface Fleet {
  readonly size: number;
  cpuMs(): Promise<number>;
  run(load: Load): Promise<LoadResult>;
  stop(): Promise<void>;
}

export interface Member {
  /** Compiled file beside this one. */
  readonly script: string;
  readonly args?: readonly string[];
}

export const startFleet = async (
  members: readonly Member[],
  setup: ContenderSetup,
  env: Readonly<Record<string, string>> = {},
): Promise<Fleet> => {
  const processes = members.map((member) => startMember(member, setup, env));
  try {
    await Promise.all(processes.map((each) => each.ready));
  } catch (error) {
    for (const { child } of processes) child.kill('SIGKILL');
    throw error;
  }
  const [first] = processes;
  if (first === undefined) throw new Error('A fleet has at least one process');
  return {
    size: processes.length,
    cpuMs: async () =>
      (await Promise.all(processes.map((each) => each.ask({ ask: 'cpu' }))))
        .map((answer) => (answer.kind === 'cpu' ? answer.cpuMs : 0))
        .reduce((sum, each) => sum + each, 0),
    run: async (load) => {
      const answer = await first.ask({ ask: 'load', load });
      if (answer.kind !== 'load') throw new Error(`Expected a result, got ${answer.kind}`);
      return answer.result;
    },
    stop: async () => {
      await Promise.all(processes.map((each) => each.stop()));
    },
  };
};

const startMember = (
  member: Member,
  setup: ContenderSetup,
  env: Readonly<Record<string, string>>,
) => {
  const child: ChildProcess = fork(
    path.join(__dirname, member.script),
    [JSON.stringify(setup), ...(member.args ?? [])],
    {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    },
  );
  const name = [member.script, ...(member.args ?? [])].join(' ');
  const next = (): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const onExit = (code: number | null): void =>
        reject(new Error(`${name} exited with ${String(code)}`));
      child.once('exit', onExit);
      child.once('message', (message: Answer) => {
        child.off('exit', onExit);
        if (message.kind === 'failed') reject(new Error(`${name}: ${message.error}`));
        else resolve(message);
      });
    });
  return {
    child,
    ready: next(),
    ask: (question: Question): Promise<Answer> => {
      const answered = next();
      child.send(question);
      return answered;
    },
    stop: (): Promise<void> =>
      new Promise((resolve) => {
        const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
        child.once('exit', () => {
          clearTimeout(timer);
          resolve();
        });
        child.send({ ask: 'stop' } satisfies Question);
      }),
  };
};
