import { createRateLimits } from '../../../src/adapters/rate-limits/rate-limits';
import {
  createRedisConnection,
  type RedisConnection,
} from '../../../src/adapters/redis/redis-connection';
import type { RateLimits } from '../../../src/ports/rate-limits';
import { createRecordingLog } from '../recording-log';
import { eventually } from '../../support/eventually';
import { startTestRedis, type TestRedis } from '../../support/redis';
import { describeIfAvailable } from '../../support/requirements';
import { describeRateLimits } from './describe-rate-limits';

describeIfAvailable('redis', 'rate limits in Redis', () => {
  let redis: TestRedis;
  const connections: RedisConnection[] = [];
  beforeAll(async () => {
    redis = await startTestRedis();
  });
  afterEach(async () => {
    await Promise.all(connections.splice(0).map((each) => each.close()));
  });
  afterAll(() => redis.end('rate limits'));

  const open = (log = createRecordingLog()): RateLimits => {
    const connection = createRedisConnection({
      url: redis.server.url,
      name: 'limits',
      log,
      callTimeoutMs: 500,
    });
    connections.push(connection);
    return createRateLimits({
      shared: {
        client: connection.client,
        prefix: 'test',
        call: (work) => connection.call(() => work()),
      },
      log,
    });
  };

  describeRateLimits('redis', { open: () => open(), isShared: true });

  it('leave only keys that end by themselves', async () => {
    await open().take({ name: 'ttl', pointsMax: 5, windowMs: 60_000 }, 'a', 1);
    const ttls = await redis.server.admin(async (client) => {
      const keys = await client.keys('*');
      return Promise.all(keys.map((key) => client.pttl(key)));
    });
    expect(ttls.length).toBeGreaterThan(0);
    for (const ttl of ttls) expect(ttl).toBeGreaterThan(0);
  });

  it('go on with a count of their own while Redis is away, and together again when it is back', async () => {
    const log = createRecordingLog();
    const limits = open(log);
    const rule = { name: 'insured', pointsMax: 2, windowMs: 60_000 };
    await limits.take(rule, 'a', 1);
    await redis.server.kill('SIGKILL');
    const alone = [];
    for (let i = 0; i < 3; i += 1) alone.push((await limits.take(rule, 'a', 1)).allowed);
    expect(alone).toEqual([true, true, false]);
    expect(log.lines.filter(({ message }) => message.includes('by each process'))).toHaveLength(1);
    await redis.server.start();
    await eventually('a common count', async () => {
      await limits.take(rule, 'b', 1);
      return log.lines.some(({ message }) => message.includes('together again')) ? true : null;
    });
  });
});
