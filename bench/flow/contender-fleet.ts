import { fork, type ChildProcess } from 'node:child_process';
import path from 'node:path';

import { createPostgresBell } from '../../src/adapters/postgres/bell/postgres-bell';
import { createBellSwitch, type BellSwitch } from '../../src/adapters/process-bell/bell-switch';
import { channelOf } from '../../src/adapters/process-bell/process-channels';
import { createConsoleLog } from '../../src/adapters/telemetry/console-log';
import type { Answer, ContenderSetup, Load, LoadResult, Question } from './bench-protocol';

const STOP_LIMIT_MS = 60_000;
const FAR_RING_MS = 1_000;

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
  readonly env?: Readonly<Record<string, string>>;
}

export const startFleet = async (
  members: readonly Member[],
  setup: ContenderSetup,
  env: Readonly<Record<string, string>> = {},
): Promise<Fleet> => {
  const bells = createBells(setup.databaseUrl);
  const processes = members.map((member) => startMember(member, setup, env, bells));
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
        .reduce((sum, each) => sum + each, ownCpuMs()),
    run: async (load) => {
      const answer = await first.ask({ ask: 'load', load });
      if (answer.kind !== 'load') throw new Error(`Expected a result, got ${answer.kind}`);
      return answer.result;
    },
    stop: async () => {
      await Promise.all(processes.map((each) => each.stop()));
      await bells.close();
    },
  };
};

/** This process stands where the product's starter stands: it carries the rings between the processes, and its CPU counts. */
const createBells = (databaseUrl: string): BellSwitch => {
  const log = createConsoleLog((line) => process.stderr.write(`${line}\n`));
  return createBellSwitch(
    createPostgresBell({ connectionString: databaseUrl, log, burstIntervalMs: FAR_RING_MS }),
    log,
  );
};

const ownCpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

const startMember = (
  member: Member,
  setup: ContenderSetup,
  env: Readonly<Record<string, string>>,
  bells: BellSwitch,
) => {
  const child: ChildProcess = fork(
    path.join(__dirname, member.script),
    [JSON.stringify(setup), ...(member.args ?? [])],
    {
      env: { ...process.env, ...env, ...member.env },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    },
  );
  bells.attach(channelOf(child));
  const name = [member.script, ...(member.args ?? [])].join(' ');
  const next = (): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const onExit = (code: number | null): void =>
        reject(new Error(`${name} exited with ${String(code)}`));
      const onMessage = (message: Answer | { readonly kind?: undefined }): void => {
        if (message.kind === undefined) return;
        child.off('exit', onExit);
        child.off('message', onMessage);
        if (message.kind === 'failed') reject(new Error(`${name}: ${message.error}`));
        else resolve(message);
      };
      child.once('exit', onExit);
      child.on('message', onMessage);
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
        if (child.exitCode !== null || !child.connected) child.kill('SIGKILL');
        else child.send({ ask: 'stop' } satisfies Question);
      }),
  };
};
