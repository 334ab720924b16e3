import { checkRedis } from '../../adapters/redis/check-redis';
import { createRedisConnection, type RedisConnection } from '../../adapters/redis/redis-connection';
import type { Log } from '../../ports/log';
import { ConfigError, type Config } from '../config';
import type { HealthChecks } from '../health/health-checks';

export interface WiredRedis {
  readonly prefix: string;
  /** Shared by all that only asks and answers. */
  readonly connection: RedisConnection;
  /** One more, that only listens. */
  readonly openListening: () => RedisConnection;
  /** Throws a ConfigError when the server cannot serve as it is set up; what may pass is a line in the log. */
  checkAtStart(): Promise<void>;
  close(): Promise<void>;
}

/** The connections of a process to Redis; null where the configuration names none. */
export const wireRedis = (options: {
  readonly config: Config;
  readonly name: string;
  readonly log: Log;
  readonly health: HealthChecks;
}): WiredRedis | null => {
  const { redis, slots } = options.config;
  if (redis === null) return null;
  const { log } = options;
  const name = `aivedio-${options.name}`;
  const connection = createRedisConnection({ url: redis.url, name, log });
  options.health.add({
    name: 'redis',
    weight: 'DEGRADING',
    check: () => connection.health(),
  });
  return {
    prefix: redis.prefix,
    connection,
    openListening: () =>
      createRedisConnection({ url: redis.url, name: `${name}-listen`, log, listens: true }),
    checkAtStart: async () => {
      const { refusals, warnings } = await checkRedis(connection, { slots: slots === 'redis' });
      if (refusals.length > 0) {
        throw new ConfigError(refusals.map((each) => `AIVEDIO_REDIS_URL: ${each}`));
      }
      for (const each of warnings) log.warn(`AIVEDIO_REDIS_URL: ${each}`);
    },
    close: () => connection.close(),
  };
};
