import { createServer, type Server } from 'node:http';

import type { WorkerName } from '../domain/stages';
import { armCrashPoints, CRASH_POINTS, type CrashPoint } from '../ports/crash-points';
import { announceLife } from './announce-life';
import { ConfigError, readConfig } from './config';
import { createContainer, type Container } from './container';
import type { RunningLoop } from './loop';

/** Whatever a worker runs until it is told to stop. */
export type Running = Pick<RunningLoop, 'stop'>;

/**
 * Runs one worker process: configuration, wiring, loops, ordered shutdown. On SIGTERM or SIGINT it takes no new work, ends or
 * hands back what it holds within the drain time, and exits 0; after twice the drain time it exits 1 whatever hangs.
 */
export const runWorker = (
  name: WorkerName,
  start: (container: Container) => Promise<readonly Running[]>,
): void => {
  main(name, start).catch((error: unknown) => {
    const text =
      error instanceof ConfigError ? error.message : String((error as Error).stack ?? error);
    process.stderr.write(`${name}: ${text}\n`);
    process.exit(1);
  });
};

const main = async (
  name: WorkerName,
  start: (container: Container) => Promise<readonly Running[]>,
): Promise<void> => {
  const config = readConfig();
  armFrom(config.crashPoint, config.production);
  const container = createContainer(config, name);
  const running = [announceLife(container, name), ...(await start(container))];
  const health =
    config.healthPort === null ? null : serveHealth(config.http.host, config.healthPort);
  onStopSignal(config.drainMs * 2, async () => {
    await Promise.all(running.map((each) => each.stop()));
    health?.close();
    await container.close();
  });
  container.log.info('worker is running', { bootId: container.bootId, pid: process.pid });
  process.send?.({ ready: true });
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

/** A crash test names a point and, after `:`, which hit of it is the last (`submit.after_http_before_db:2`). */
export const armFrom = (armed: string | null, production: boolean): void => {
  if (armed === null) return;
  if (production) throw new Error('Crash points are refused in production');
  const [name, hit = '1'] = armed.split(':');
  if (!CRASH_POINTS.includes(name as CrashPoint))
    throw new Error(`There is no crash point ${String(name)}`);
  let left = Number(hit);
  armCrashPoints((reached) => {
    if (reached !== name) return;
    left -= 1;
    // As if the power were cut: no handler, no flush, no goodbye.
    if (left === 0) process.kill(process.pid, 'SIGKILL');
  });
};

const serveHealth = (host: string, port: number): Server =>
  createServer((request, response) => {
    const known = request.url === '/healthz';
    response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(known ? { status: 'ok' } : { status: 'not found' }));
  }).listen(port, host);
