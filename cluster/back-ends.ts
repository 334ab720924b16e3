import path from 'node:path';

import { pickPort } from './pick-port';
import { startPostgres15, type Postgres15 } from './servers/postgres15';
import { startRedis, type RedisServer } from './servers/redis';
import { startRocketmq, type RocketmqServer } from './servers/rocketmq';
import { startVersitygw, type Versitygw } from './servers/versitygw';

/** What each real server saw of the product, by its own count. */
export interface Seen {
  readonly postgresCommits: number;
  readonly rocketmqMessages: number;
  readonly redisCommands: number;
  readonly s3Requests: number;
}

/** The real servers that the product stands on past one machine. */
export interface BackEnds {
  readonly postgres: Postgres15;
  readonly rocketmq: RocketmqServer;
  readonly redis: RedisServer;
  readonly s3: Versitygw;
  /** What a process of the product is told to use them. */
  readonly env: Readonly<Record<string, string>>;
  readonly pids: readonly number[];
  countSeen(): Promise<Seen>;
  stop(): Promise<void>;
}

const JVM_HEAP_MB = 512;

/** Starts all four below one folder. Whatever one of them lacks on this machine is said with its remedy; then none is left running. */
export const startBackEnds = async (
  dir: string,
  say: (line: string) => void,
): Promise<BackEnds> => {
  const under = (name: string) => ({ dir: path.join(dir, name), log: say });
  const started = await startTogether({
    postgres: startPostgres15({ ...under('postgres'), port: await pickPort() }),
    rocketmq: startRocketmq({ ...under('rocketmq'), heapMb: JVM_HEAP_MB }),
    redis: startRedis({ ...under('redis'), port: await pickPort() }),
    s3: startVersitygw({ ...under('s3'), port: await pickPort() }),
  });
  const { postgres, rocketmq, redis, s3 } = started;
  return {
    ...started,
    env: {
      AIVEDIO_DATABASE_URL: postgres.url,
      AIVEDIO_BUS: 'rocketmq',
      AIVEDIO_ROCKETMQ_ENDPOINTS: rocketmq.endpoints,
      AIVEDIO_ROCKETMQ_NAMESRV: rocketmq.namesrv,
      AIVEDIO_ROCKETMQ_MQADMIN: rocketmq.mqadminPath,
      AIVEDIO_REDIS_URL: redis.url,
      ...s3.env,
    },
    get pids() {
      return [postgres, rocketmq, redis, s3].flatMap(({ pids }) => pids);
    },
    countSeen: async () => ({
      postgresCommits: await postgres.commitsSeen(),
      rocketmqMessages: await rocketmq.messagesSeen(),
      redisCommands: await redis.commandsSeen(),
      s3Requests: await s3.countRequests(),
    }),
    stop: async () => {
      await Promise.all([rocketmq, redis, s3].map((each) => each.stop()));
      await postgres.stop();
    },
  };
};

interface Stoppable {
  stop(): Promise<void>;
}

const startTogether = async <T extends Record<string, Stoppable>>(starting: {
  readonly [K in keyof T]: Promise<T[K]>;
}): Promise<T> => {
  const names = Object.keys(starting) as (keyof T)[];
  const settled = await Promise.allSettled(names.map((name) => starting[name]));
  const failed = settled.filter((each) => each.status === 'rejected');
  if (failed.length === 0) {
    const values = await Promise.all(names.map((name) => starting[name]));
    return Object.fromEntries(names.map((name, index) => [name, values[index]])) as unknown as T;
  }
  await Promise.all(
    settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value.stop()] : [])),
  );
  throw new Error(failed.map(({ reason }) => String((reason as Error).message)).join('\n'));
};
