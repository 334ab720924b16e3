import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import Redis from 'ioredis';

import { freePort } from '../../src/runtime/free-port';
import { serverProcess } from './server-process';

const LOCAL = '127.0.0.1';
const READY_TRIES = 400;
const READY_EVERY_MS = 25;

export interface RedisServerOptions {
  /** Scratch folder of this server alone; made when it is missing. */
  readonly dir: string;
  readonly log?: (line: string) => void;
  /** 0 or nothing: any free one. */
  readonly port?: number;
  readonly password?: string;
  /** The program; by default what the PATH has. */
  readonly program?: string;
  /** More of redis-server's arguments, such as `--maxmemory 64mb`. */
  readonly args?: readonly string[];
}

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  readonly password: string;
  readonly pids: readonly number[];
  /** Again on the same port; Redis keeps nothing here, so it begins empty. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** SIGSTOP makes it deaf and SIGCONT hear again; any other signal ends it. */
  kill(signal: NodeJS.Signals): Promise<void>;
  flush(): Promise<void>;
  /** Runs commands as an administrator. */
  admin<T>(work: (redis: Redis) => Promise<T>): Promise<T>;
  /** Commands that clients sent since the first start, over restarts; of the given names, or all but those that are this module's own. */
  commandsSeen(names?: readonly string[]): Promise<number>;
}

/** A redis-server of its own: free port, password, nothing written to disk. */
export const startRedis = async (options: RedisServerOptions): Promise<RedisServer> => {
  await mkdir(options.dir, { recursive: true });
  const port = await freePort(LOCAL, options.port ?? 0);
  const password = options.password ?? 'only-for-tests-of-this-machine';
  const logFile = path.join(options.dir, 'redis.log');
  const process = serverProcess(
    options.program ?? 'redis-server',
    [
      ...['--port', String(port), '--bind', LOCAL, '--dir', options.dir],
      ...['--save', '', '--appendonly', 'no', '--requirepass', password, '--masterauth', password],
      ...['--maxmemory-policy', 'noeviction', ...(options.args ?? [])],
    ],
    logFile,
  );
  const admin = <T>(work: (redis: Redis) => Promise<T>): Promise<T> =>
    withRedis(port, password, work);
  const seenBefore = new Map<string, number>();
  const countNow = (): Promise<ReadonlyMap<string, number>> =>
    admin(async (redis) => callsByCommand(await redis.info('commandstats')));

  const start = async (): Promise<void> => {
    process.start();
    for (let tries = 0; tries < READY_TRIES && process.isRunning(); tries += 1) {
      if (await admin((redis) => redis.ping()).then(isPong, () => false)) {
        options.log?.(`Redis answers at ${LOCAL}:${port}`);
        return;
      }
      await wait(READY_EVERY_MS);
    }
    const said = await readFile(logFile, 'utf8').catch(() => '');
    throw new Error(
      `redis-server does not answer at ${port}: ${said.split('\n').slice(-5).join(' ')}`,
    );
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    // A deaf server tells nothing: what it saw is lost to the count.
    for (const [name, calls] of await countNow().catch(() => [])) {
      seenBefore.set(name, calls + (seenBefore.get(name) ?? 0));
    }
    await process.kill(signal);
  };

  await start();
  return {
    url: `redis://:${password}@${LOCAL}:${port}`,
    port,
    password,
    get pids() {
      return process.pid === null ? [] : [process.pid];
    },
    start,
    // A stopped process hears no SIGTERM, and there is nothing here that a SIGKILL would lose.
    stop: () => end('SIGKILL'),
    kill: (signal) =>
      signal === 'SIGSTOP' || signal === 'SIGCONT' ? process.kill(signal) : end(signal),
    flush: async () => {
      await admin((redis) => redis.flushall());
    },
    admin,
    commandsSeen: async (names) => {
      const all = [...seenBefore, ...(await countNow().catch(() => []))];
      return all
        .filter(([name]) => (names === undefined ? !OWN_COMMANDS.test(name) : names.includes(name)))
        .reduce((sum, [, calls]) => sum + calls, 0);
    },
  };
};

const isPong = (answer: string): boolean => answer === 'PONG';

/** One connection for one piece of work, that fails rather than waits. */
export const withRedis = async <T>(
  port: number,
  password: string | null,
  work: (redis: Redis) => Promise<T>,
): Promise<T> => {
  const redis = new Redis({
    host: LOCAL,
    port,
    ...(password === null ? {} : { password }),
    lazyConnect: true,
    connectTimeout: 1_000,
    commandTimeout: 2_000,
    maxRetriesPerRequest: 0,
    enableReadyCheck: false,
    retryStrategy: () => null,
  });
  // The failure comes with the command; without a listener it would be printed as well.
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return await work(redis);
  } finally {
    redis.disconnect();
  }
};

/** What this module, a replica or a sentinel asks by itself; the same commands of a client are then not counted. */
const OWN_COMMANDS =
  /^(auth|info|ping|flushall|config.*|client.*|hello|command.*|replconf|psync|cluster.*|role)$/;

const callsByCommand = (stats: string): ReadonlyMap<string, number> =>
  new Map(
    [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(([, name, calls]) => [
      name ?? '',
      Number(calls),
    ]),
  );
