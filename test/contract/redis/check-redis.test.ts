import { checkRedis } from '../../../src/adapters/redis/check-redis';
import {
  createRedisConnection,
  type RedisConnection,
} from '../../../src/adapters/redis/redis-connection';
import { freePort } from '../../../src/runtime/free-port';
import { startTestRedis, type TestRedis } from '../../support/redis';
import { describeIfAvailable } from '../../support/requirements';
import { createRecordingLog } from '../recording-log';

const NEEDS = { slots: true };
const MEMORY = 16 * 1024 ** 2;

describeIfAvailable('redis', 'a look at Redis before its first use', () => {
  let redis: TestRedis;
  const connections: RedisConnection[] = [];
  beforeAll(async () => {
    redis = await startTestRedis();
  });
  afterEach(async () => {
    await Promise.all(connections.splice(0).map((each) => each.close()));
  });
  afterAll(() => redis.end('look at Redis', ['info']));

  const connect = (url: string, log = createRecordingLog()): RedisConnection => {
    const connection = createRedisConnection({ url, name: 'check', log, callTimeoutMs: 500 });
    connections.push(connection);
    return connection;
  };
  const configure = (values: Readonly<Record<string, string>>): Promise<void> =>
    redis.server.admin(async (client) => {
      for (const [key, value] of Object.entries(values)) await client.config('SET', key, value);
    });

  it('finds nothing at a server as it should be', async () => {
    const connection = connect(redis.server.url);
    expect(await checkRedis(connection, NEEDS)).toEqual({ refusals: [], warnings: [] });
    expect(await connection.health()).toMatchObject({ ok: true });
  });

  it('refuses a server that throws keys away, or has no memory left, where slots are kept', async () => {
    await configure({ 'maxmemory-policy': 'allkeys-lru', maxmemory: String(MEMORY) });
    try {
      const { refusals } = await checkRedis(connect(redis.server.url), NEEDS);
      expect(refusals).toHaveLength(1);
      expect(refusals[0]).toMatch(/allkeys-lru.*noeviction.*AIVEDIO_SLOTS=postgres/);
      expect(await checkRedis(connect(redis.server.url), { slots: false })).toMatchObject({
        refusals: [],
        warnings: [expect.stringContaining('allkeys-lru')],
      });
      await configure({ 'maxmemory-policy': 'noeviction', maxmemory: '1000' });
      expect((await checkRedis(connect(redis.server.url), NEEDS)).refusals).toEqual([
        expect.stringMatching(/uses \d+ of 1000 bytes/),
      ]);
    } finally {
      await configure({ 'maxmemory-policy': 'noeviction', maxmemory: '0' });
    }
  });

  it('refuses a wrong password, and repeats it nowhere', async () => {
    const log = createRecordingLog();
    const wrong = 'a-wrong-password-of-somebody';
    const url = `redis://:${wrong}@127.0.0.1:${redis.server.port}`;
    const verdict = await checkRedis(connect(url, log), NEEDS);
    expect(verdict.refusals).toEqual([expect.stringMatching(/WRONGPASS|NOAUTH/)]);
    expect(JSON.stringify([verdict, log.lines])).not.toContain(wrong);
  });

  it('warns of a server that does not answer, since it may come back', async () => {
    const port = await freePort('127.0.0.1', 0);
    const connection = connect(`redis://127.0.0.1:${port}`);
    const { refusals, warnings } = await checkRedis(connection, NEEDS);
    expect(refusals).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining(`127.0.0.1:${port}`)]);
    expect(await connection.health()).toMatchObject({ ok: false });
  });
});
