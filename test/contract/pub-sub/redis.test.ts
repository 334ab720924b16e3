import { createRedisPubSub } from '../../../src/adapters/redis/pub-sub/redis-pub-sub';
import {
  createRedisConnection,
  RedisUnavailableError,
  type RedisConnection,
} from '../../../src/adapters/redis/redis-connection';
import type { PubSub } from '../../../src/ports/pub-sub';
import { eventually } from '../../support/eventually';
import { startTestRedis, type TestRedis } from '../../support/redis';
import { describeIfAvailable } from '../../support/requirements';
import { createRecordingLog } from '../recording-log';
import { describePubSub } from './describe-pub-sub';

const ignore = (): void => undefined;

describeIfAvailable('redis', 'pub/sub in Redis', () => {
  let redis: TestRedis;
  let connections: RedisConnection[];
  beforeAll(async () => {
    redis = await startTestRedis();
  });
  afterAll(() => redis.end('pub/sub'));
  beforeEach(() => {
    connections = [];
  });
  afterEach(async () => {
    await Promise.all(connections.map((each) => each.close()));
  });

  const connect = (listens: boolean): RedisConnection => {
    const connection = createRedisConnection({
      url: redis.server.url,
      name: listens ? 'listen' : 'publish',
      log: createRecordingLog(),
      callTimeoutMs: 500,
      listens,
    });
    connections.push(connection);
    return connection;
  };
  const open = (): PubSub =>
    createRedisPubSub({
      connection: connect(false),
      openListening: () => connect(true),
      prefix: 'test',
      log: createRecordingLog(),
    });
  const admin = (...command: [string, ...string[]]): Promise<unknown> =>
    redis.server.admin((client) => client.call(...command));

  describePubSub('redis', () => ({
    open: () => Promise.resolve(open()),
    cutListeners: async () => {
      await admin('CLIENT', 'KILL', 'TYPE', 'pubsub');
    },
  }));

  it('leaves no subscription behind, however fast one comes and goes', async () => {
    const pubSub = open();
    const stay = await Promise.all(
      Array.from({ length: 40 }, (_, index) => pubSub.subscribe(`t.${index % 4}`, ignore, ignore)),
    );
    expect(await admin('PUBSUB', 'CHANNELS')).toHaveLength(4);
    await Promise.all(
      stay.map(async (unsubscribe, index) => {
        await unsubscribe();
        await (
          await pubSub.subscribe(`t.${index % 4}`, ignore, ignore)
        )();
      }),
    );
    await eventually('no channel is left', async () =>
      ((await admin('PUBSUB', 'CHANNELS')) as string[]).length === 0 ? true : null,
    );
    await pubSub.close();
  });

  it('subscribes while the server is away, and delivers when it is back', async () => {
    const [pubSub, publisher] = [open(), open()];
    const received: unknown[] = [];
    await pubSub.subscribe('before', (each) => received.push(each), ignore);
    await redis.server.kill('SIGKILL');
    await expect(publisher.publish('before', {})).rejects.toThrow(RedisUnavailableError);
    const leave = await pubSub.subscribe('gone', ignore, ignore);
    await leave();
    await pubSub.subscribe('during', (each) => received.push(each), ignore);
    await redis.server.start();
    await eventually('both topics deliver', async () => {
      await publisher.publish('before', { topic: 'before' }).catch(ignore);
      await publisher.publish('during', { topic: 'during' }).catch(ignore);
      const topics = new Set(received.map((each) => (each as { topic: string }).topic));
      return topics.size === 2 ? true : null;
    });
    expect(await admin('PUBSUB', 'CHANNELS')).toEqual(expect.not.arrayContaining(['test:gone']));
    await Promise.all([pubSub.close(), publisher.close()]);
  });
});
