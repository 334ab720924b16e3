import type { Cluster, Redis, RedisOptions } from 'ioredis';

import type { Log } from '../../ports/log';
import { parseRedisUrl, type RedisAddress } from './redis-url';

export type RedisClient = Redis | Cluster;

/** Redis did not do it, or did not say so in time. The message names the place and holds no secret. */
export class RedisUnavailableError extends Error {
  readonly code = 'REDIS_UNAVAILABLE';
}

export interface RedisConnection {
  /** One piece of work within the time limit. Rejects with a RedisUnavailableError whatever went wrong. */
  call<T>(work: (client: RedisClient) => Promise<T>): Promise<T>;
  /** Runs a script by its digest, with its text when the server does not know it. */
  script(text: Script, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** Called with each connection after the first: what was written before may be gone. */
  onReconnect(listener: () => void): void;
  health(): Promise<{ readonly ok: boolean; readonly detail: string }>;
  /** For libraries that bring their own commands. */
  readonly client: RedisClient;
  readonly shown: string;
  close(): Promise<void>;
}

export interface Script {
  readonly sha1: string;
  readonly text: string;
}

export interface RedisConnectionOptions {
  readonly url: string;
  /** Shown by the server's CLIENT LIST. */
  readonly name: string;
  readonly log: Log;
  readonly callTimeoutMs?: number;
  /** A connection that only listens waits for its server as long as it takes. */
  readonly listens?: boolean;
}

const CONNECT_TIMEOUT_MS = 2_000;
const CALL_TIMEOUT_MS = 1_000;
const RECONNECT_MS_FIRST = 50;
const RECONNECT_MS_MAX = 1_000;
/** Calls that may wait for a connection; one more is refused at once. */
const WAITING_MAX = 1_000;
/** After a call that was not answered in time the next ones fail at once, for as long as this. */
const BROKEN_MS = 500;
/** What was sent when a connection broke is tried again so often. */
const RETRIES_MAX = 1;

/** Opens with the first call; comes back by itself, with growing pauses. */
export const createRedisConnection = (options: RedisConnectionOptions): RedisConnection => {
  const { log, callTimeoutMs = CALL_TIMEOUT_MS } = options;
  const address = parseRedisUrl(options.url);
  const client = open(address, options);
  const listeners = new Set<() => void>();
  let connections = 0;
  let complained = false;
  let waiting = 0;
  let brokenTimer: NodeJS.Timeout | null = null;

  client.on('error', (error: unknown) => {
    if (complained) return;
    complained = true;
    log.warn('Redis is out of reach', { at: address.shown, error: wordsOf(error, address) });
  });
  client.on('ready', () => {
    connections += 1;
    if (brokenTimer !== null) clearTimeout(brokenTimer);
    brokenTimer = null;
    if (complained) log.info('Redis is back', { at: address.shown });
    complained = false;
    if (connections > 1) for (const listener of listeners) listener();
  });

  const unavailable = (why: string): RedisUnavailableError =>
    new RedisUnavailableError(`Redis at ${address.shown}: ${why}`);

  const call = async <T>(work: (client: RedisClient) => Promise<T>): Promise<T> => {
    if (brokenTimer !== null) throw unavailable('it did not answer a moment ago');
    if (client.status !== 'ready' && waiting >= WAITING_MAX)
      throw unavailable('too many wait for it');
    waiting += 1;
    let timer: NodeJS.Timeout | undefined;
    try {
      const late = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => {
          brokenTimer ??= setTimeout(() => (brokenTimer = null), BROKEN_MS).unref();
          reject(unavailable(`no answer in ${callTimeoutMs} ms`));
        }, callTimeoutMs);
      });
      return await Promise.race([work(client), late]);
    } catch (error) {
      throw error instanceof RedisUnavailableError ? error : unavailable(wordsOf(error, address));
    } finally {
      clearTimeout(timer);
      waiting -= 1;
    }
  };

  return {
    client,
    shown: address.shown,
    call,
    script: (script, keys, args) =>
      call((redis) =>
        redis.evalsha(script.sha1, keys.length, ...keys, ...args).catch((error: unknown) => {
          if (!String(error).includes('NOSCRIPT')) throw error;
          return redis.eval(script.text, keys.length, ...keys, ...args);
        }),
      ),
    onReconnect: (listener) => void listeners.add(listener),
    health: async () => {
      try {
        await call((redis) => redis.ping());
        return { ok: true, detail: `Redis answers at ${address.shown}` };
      } catch (error) {
        return { ok: false, detail: (error as Error).message };
      }
    },
    close: () => {
      if (brokenTimer !== null) clearTimeout(brokenTimer);
      client.disconnect();
      return Promise.resolve();
    },
  };
};

const pause = (tries: number): number =>
  Math.min(RECONNECT_MS_MAX, RECONNECT_MS_FIRST * 2 ** Math.min(tries - 1, 10));

const open = (address: RedisAddress, options: RedisConnectionOptions): RedisClient => {
  // Loaded with the first connection: a process without Redis does not pay for it.
  const ioredis = require('ioredis') as typeof import('ioredis');
  const common: RedisOptions = {
    connectionName: options.name,
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxRetriesPerRequest: options.listens === true ? null : RETRIES_MAX,
    ...(address.username === null ? {} : { username: address.username }),
    ...(address.password === null ? {} : { password: address.password }),
    ...(address.tls ? { tls: {} } : {}),
    // The master of a moment ago became a replica: its name leads elsewhere now.
    reconnectOnError: (error) => (error.message.startsWith('READONLY') ? 2 : false),
  };
  if (address.kind === 'cluster') {
    return new ioredis.Cluster([...address.hosts], {
      redisOptions: common,
      lazyConnect: true,
      slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
      clusterRetryStrategy: pause,
    });
  }
  const [first] = address.hosts;
  return new ioredis.Redis({
    ...common,
    lazyConnect: true,
    db: address.database,
    retryStrategy: pause,
    ...(address.kind === 'single'
      ? { host: first?.host ?? '', port: first?.port ?? 0 }
      : {
          sentinels: [...address.hosts],
          name: address.masterName ?? '',
          sentinelRetryStrategy: pause,
          ...(address.tls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
          ...(address.sentinelPassword === null
            ? {}
            : { sentinelPassword: address.sentinelPassword }),
        }),
  });
};

/** What an error says, without the password should a library ever repeat it. */
const wordsOf = (error: unknown, { password }: RedisAddress): string => {
  const text = error instanceof Error ? error.message : String(error);
  return password === null ? text : text.replaceAll(password, '…');
};
