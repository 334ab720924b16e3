import { createPostgresPubSub } from '../../adapters/postgres/pub-sub/postgres-pub-sub';
import { createRedisPubSub } from '../../adapters/redis/pub-sub/redis-pub-sub';
import type { Log } from '../../ports/log';
import type { PubSub } from '../../ports/pub-sub';
import type { Config } from '../config';
import type { WiredRedis } from './wire-redis';

/** Fan-out to present subscribers, as the configuration says. */
export const wirePubSub = (options: {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly redis: WiredRedis | null;
  readonly log: Log;
}): PubSub => {
  const { config, databaseUrl, redis, log } = options;
  return config.pubSub === 'redis' && redis !== null
    ? createRedisPubSub({ ...redis, prefix: `${redis.prefix}:pub-sub`, log })
    : createPostgresPubSub({ connectionString: databaseUrl, log });
};
