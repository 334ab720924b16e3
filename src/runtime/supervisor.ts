import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import type { BellSwitch } from '../adapters/process-bell/bell-switch';
import { channelOf } from '../adapters/process-bell/process-channels';
import type { Log } from '../ports/log';

export interface ChildSpec {
  readonly name: string;
  /** The JavaScript file to run with this Node. */
  readonly script: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Ready when this answers anything; without it the child says so on its channel. */
  readonly readyUrl?: string;
  /** Workers that run in it, when it does not bear the name of its only one. */
  readonly workers?: readonly string[];
}

export interface SupervisorOptions {
  readonly logDir: string;
  readonly log: Log;
  /** What every child gets beside its own environment. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** A stopping child is killed after this. */
  readonly killAfterMs: number;
  /** The longest pause before a child that keeps dying is started again. */
  readonly restartMsMax?: number;
  /** Carries what the children ring to each other. */
  readonly bells: Pick<BellSwitch, 'attach'>;
}

export type Ending = number | NodeJS.Signals;

export interface Supervisor {
  /** Starts a child and keeps it running; resolves when it says that it is ready, rejects when its first life ends before. */
  run(spec: ChildSpec): Promise<void>;
  /** Ends a child with the signal and leaves it ended; answers its exit code or the signal that ended it, null when it did not run. */
  halt(name: string, signal?: NodeJS.Signals): Promise<Ending | null>;
  /** Starts a halted child again; resolves when it says that it is ready. */
  resume(name: string): Promise<void>;
  /** Of a process by its name, or by that of a worker in it. */
  pidOf(name: string): number | null;
  /** Says something to a child on its channel; lost when it does not run. */
  tell(name: string, message: object): void;
  /** Hears what children say on their channels, by name; answers how to stop. */
  hear(listener: (name: string, message: unknown) => void): () => void;
  /** Stops every child with SIGTERM, in the order given; the others after them, together. */
  stop(): Promise<void>;
}

const RESTART_MS_FIRST = 250;
const RESTART_MS_MAX = 5_000;
/** A life this long clears the memory of earlier deaths. */
const STEADY_MS = 10_000;

interface Child {
  readonly spec: ChildSpec;
  process: ChildProcess | null;
  deaths: number;
  restart: NodeJS.Timeout | null;
  halted: boolean;
}

/**
 * Keeps the product's processes alive on one machine: each child is a process of its own, restarted with backoff when it dies.
 * Output goes to one log file a child. Children stop by themselves when this process is gone (their channel closes).
 */
export const createSupervisor = (options: SupervisorOptions): Supervisor => {
  const children = new Map<string, Child>();
  const listeners = new Set<(name: string, message: unknown) => void>();
  const restartMsMax = options.restartMsMax ?? RESTART_MS_MAX;
  let stopping = false;
  mkdirSync(options.logDir, { recursive: true });

  const childOf = (name: string): Child | undefined =>
    children.get(name) ??
    [...children.values()].find(({ spec }) => spec.workers?.includes(name) === true);

  const launch = (child: Child, onReady: () => void, onEnd: (reason: string) => void): void => {
    const { spec } = child;
    const output = openSync(path.join(options.logDir, `${spec.name}.log`), 'a');
    const started = process.hrtime.bigint();
    const launched = spawn(process.execPath, [spec.script, ...spec.args], {
      env: { ...options.inherited, ...spec.env },
      stdio: ['ignore', output, output, 'ipc'],
    });
    closeSync(output);
    child.process = launched;
    const detach = options.bells.attach(channelOf(launched));
    if (spec.readyUrl !== undefined)
      void untilAnswered(spec.readyUrl, () => child.process === launched).then(onReady);
    launched.on('message', (message) => {
      if ((message as { ready?: boolean }).ready === true) onReady();
      for (const listener of listeners) listener(spec.name, message);
    });
    launched.on('error', (error) => onEnd(String(error)));
    launched.on('exit', (code, signal) => {
      detach();
      child.process = null;
      onEnd(signal ?? `exit code ${code}`);
      if (stopping || child.halted) return;
      const lifeMs = Number((process.hrtime.bigint() - started) / 1_000_000n);
      child.deaths = lifeMs > STEADY_MS ? 1 : child.deaths + 1;
      const waitMs = Math.min(RESTART_MS_FIRST * 2 ** (child.deaths - 1), restartMsMax);
      options.log.warn('a process ended and is started again', {
        name: spec.name,
        reason: signal ?? code,
        waitMs,
      });
      child.restart = setTimeout(
        () =>
          launch(
            child,
            () => undefined,
            () => undefined,
          ),
        waitMs,
      );
    });
  };

  const launchUntilReady = (child: Child): Promise<void> =>
    new Promise((resolve, reject) => {
      const { name } = child.spec;
      let ready = false;
      launch(
        child,
        () => {
          ready = true;
          resolve();
        },
        (reason) => {
          if (ready) return;
          reject(
            new Error(
              `${name} ended while starting (${reason}); see ${path.join(options.logDir, `${name}.log`)}`,
            ),
          );
        },
      );
    });

  const known = (name: string): Child => {
    const child = childOf(name);
    if (child === undefined) throw new Error(`There is no process ${name}`);
    return child;
  };

  return {
    run: (spec) => {
      const child: Child = { spec, process: null, deaths: 0, restart: null, halted: false };
      children.set(spec.name, child);
      return launchUntilReady(child);
    },
    halt: async (name, signal = 'SIGTERM') => {
      const child = known(name);
      child.halted = true;
      if (child.restart !== null) clearTimeout(child.restart);
      return stopChild(child, options.killAfterMs, signal);
    },
    resume: async (name) => {
      const child = known(name);
      if (!child.halted) return;
      child.halted = false;
      child.deaths = 0;
      await launchUntilReady(child);
    },
    pidOf: (name) => childOf(name)?.process?.pid ?? null,
    tell: (name, message) => {
      const child = childOf(name)?.process;
      if (child?.connected === true) child.send(message, () => undefined);
    },
    hear: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    stop: async () => {
      stopping = true;
      for (const child of children.values())
        if (child.restart !== null) clearTimeout(child.restart);
      await Promise.all(
        [...children.values()].map((child) => stopChild(child, options.killAfterMs)),
      );
    },
  };
};

const READY_POLL_MS = 50;

/** Resolves when something answers at the URL, or when it is no longer worth asking. */
const untilAnswered = async (url: string, stillWanted: () => boolean): Promise<void> => {
  while (stillWanted()) {
    const answered = await fetch(url).then(
      () => true,
      () => false,
    );
    if (answered) return;
    await wait(READY_POLL_MS);
  }
};

const stopChild = (
  child: Child,
  killAfterMs: number,
  signal: NodeJS.Signals = 'SIGTERM',
): Promise<Ending | null> =>
  new Promise((resolve) => {
    const running = child.process;
    if (running === null || running.exitCode !== null) {
      resolve(null);
      return;
    }
    const timer = setTimeout(() => running.kill('SIGKILL'), killAfterMs);
    running.once('exit', (code, endedBy) => {
      clearTimeout(timer);
      resolve(endedBy ?? code);
    });
    running.kill(signal);
  });
