import { setTimeout as wait } from 'node:timers/promises';

import type { WorkerName } from '../domain/stages';
import { announceLife } from './announce-life';
import { armFromConfig } from './arm-crash-points';
import { ConfigError, readConfig } from './config';
import { createContainer, type Container } from './container';
import { lookTogether } from './look-together';
import { startHealthServer, type HealthServer } from './health/health-server';
import { mediaHealth } from './health/media-health';
import type { RunningLoop } from './loop';

/** Whatever a worker runs until it is told to stop. */
export type Running = Pick<RunningLoop, 'stop'>;

export type StartWorker = (container: Container) => Promise<readonly Running[]>;

/** A worker and what starts its loops. */
interface Member {
  readonly name: WorkerName;
  readonly start: StartWorker;
}

/** Runs one worker as this process. */
export const runWorker = (name: WorkerName, start: StartWorker): void =>
  runWorkers(name, [{ name, start }]);

/**
 * Runs one process with one worker or several: configuration, wiring, loops, ordered shutdown. On SIGTERM or SIGINT it takes no
 * new work, ends or hands back what it holds within the drain time, and exits 0; after twice the drain time it exits 1 whatever
 * hangs.
 */
export const runWorkers = (name: string, members: readonly Member[]): void => {
  main(name, members).catch((error: unknown) => {
    const text =
      error instanceof ConfigError ? error.message : String((error as Error).stack ?? error);
    process.stderr.write(`${name}: ${text}\n`);
    process.exit(1);
  });
};

const main = async (name: string, members: readonly Member[]): Promise<void> => {
  const config = readConfig();
  armFromConfig(config);
  const container = createContainer(config, name);
  const workers = members.map((member) => member.name);
  addMediaHealth(container, workers);
  if (workers.includes('reconciler')) container.showQueues();
  // Before the loops: a start that waits for something can be asked for what.
  const server = await serveHealth(container, workers);
  await container.checkAtStart();
  const running = [announceLife(container, name), ...(await startAll(container, members))];
  onStopSignal(config.drainMs * 2 + config.unreadyMs, async () => {
    container.health.drain();
    // Only to the callback worker others send; the rest fetch their work, and stop to do so.
    if (workers.includes('callback')) await wait(config.unreadyMs);
    await Promise.all(running.map((each) => each.stop()));
    await server?.close();
    await container.close();
  });
  container.log.info('worker is running', {
    bootId: container.bootId,
    pid: process.pid,
    workers,
  });
  process.send?.({ ready: true });
};

const MEDIA_WORKERS: readonly WorkerName[] = ['asset-validator', 'media'];

/** Only who starts ffmpeg stands on it. */
const addMediaHealth = (container: Container, workers: readonly WorkerName[]): void => {
  if (!workers.some((worker) => MEDIA_WORKERS.includes(worker))) return;
  container.health.add(mediaHealth(container));
};

/** Where the configuration names a port: `/healthz`, `/readyz`, `/metrics`. */
export const serveHealth = async (
  { config, health, metrics }: Container,
  names: readonly string[],
): Promise<HealthServer | null> =>
  config.healthPort === null
    ? null
    : startHealthServer({
        host: config.http.host,
        port: config.healthPort,
        names,
        read: health.read,
        metrics,
      });

/** Several workers look together at what is due, and each says in the log who it is. */
const startAll = async (
  container: Container,
  members: readonly Member[],
): Promise<readonly Running[]> => {
  const [only] = members;
  if (members.length === 1 && only !== undefined) return only.start(container);
  const shared = lookTogether(container);
  const started = await Promise.all(
    members.map((member) => member.start(namedAfter(shared.container, member.name))),
  );
  return [...started.flat(), shared.look];
};

const namedAfter = (container: Container, part: WorkerName): Container => {
  const log = container.log.child({ part });
  return { ...container, log, context: { ...container.context, log } };
};

/** Calls `stop` once, at the first signal or when the parent is gone; exits when it is done. */
export const onStopSignal = (limitMs: number, stop: () => Promise<void>): void => {
  let stopping = false;
  const begin = (): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), limitMs).unref();
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`stop failed: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', begin);
  process.on('SIGINT', begin);
  process.on('disconnect', begin);
};
