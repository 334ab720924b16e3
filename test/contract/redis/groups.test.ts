import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import {
  startRedisCluster,
  startRedisSentinel,
  type RedisGroup,
} from '../../../cluster/servers/redis-groups';
import { createRedisPubSub } from '../../../src/adapters/redis/pub-sub/redis-pub-sub';
import {
  createRedisConnection,
  type RedisConnection,
} from '../../../src/adapters/redis/redis-connection';
import { createRedisSlots } from '../../../src/adapters/redis/slots/redis-slots';
import type { SlotHolder } from '../../../src/ports/slots';
import { eventually } from '../../support/eventually';
import { describeIfAvailable } from '../../support/requirements';
import { createRecordingLog } from '../recording-log';
import { makeScopes, namesOf, newHolder, NOW, TTL_MS } from '../slots/slots-harness';

const ignore = (): void => undefined;
const FAILOVER_MS = 20_000;

/** What the product does with a Redis, over a URL that names several servers. */
const use = (url: string) => {
  const log = createRecordingLog();
  const opened: RedisConnection[] = [];
  const connect = (listens: boolean): RedisConnection => {
    const connection = createRedisConnection({ url, name: 'groups', log, listens });
    opened.push(connection);
    return connection;
  };
  const connection = connect(false);
  const holders: SlotHolder[] = [];
  return {
    holders,
    slots: createRedisSlots({
      connection,
      prefix: 'test',
      log,
      settleMs: 0,
      facts: {
        holders: () => Promise.resolve(holders),
        endedAmong: () => Promise.resolve([]),
      },
    }),
    pubSub: createRedisPubSub({
      connection,
      openListening: () => connect(true),
      prefix: 'test',
      log,
    }),
    close: () => Promise.all(opened.map((each) => each.close())),
  };
};

const takesSlotsAndMessages = async (used: ReturnType<typeof use>): Promise<void> => {
  const scopes = makeScopes(1);
  const acquired = await eventually('a slot', () =>
    used.slots.acquire(newHolder(), scopes, TTL_MS, NOW).catch(() => null),
  );
  expect(acquired.kind).toBe('ACQUIRED');
  expect((await used.slots.acquire(newHolder(), scopes, TTL_MS, NOW)).kind).toBe('FULL');
  expect(Object.values(await used.slots.usage(namesOf(scopes)))).toEqual([1, 1, 1, 1]);

  const received: unknown[] = [];
  const leave = await used.pubSub.subscribe('topic', (each) => received.push(each), ignore);
  await eventually('the message', async () => {
    await used.pubSub.publish('topic', { n: 1 });
    return received[0];
  });
  await leave();
};

describeIfAvailable('redis', 'several Redis servers by one URL', () => {
  let dir: string;
  let group: RedisGroup | null;
  let used: ReturnType<typeof use> | null;
  beforeEach(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'aivedio-redis-'));
    [group, used] = [null, null];
  });
  afterEach(async () => {
    await used?.close();
    await group?.stop();
    await rm(dir, { recursive: true, force: true });
  });
  const say = async (title: string): Promise<void> => {
    const seen = (await group?.commandsSeen(['evalsha', 'eval', 'publish', 'subscribe'])) ?? 0;
    process.stdout.write(`${title}: the Redis servers saw ${seen} commands\n`);
    expect(seen).toBeGreaterThan(0);
  };

  it('is a Cluster', async () => {
    group = await startRedisCluster({ dir });
    used = use(group.url);
    await takesSlotsAndMessages(used);
    await say('Redis Cluster');
  }, 60_000);

  it('is a master that its sentinels replace, and slots are counted anew at the next one', async () => {
    group = await startRedisSentinel({ dir });
    used = use(group.url);
    await takesSlotsAndMessages(used);

    const scopes = makeScopes(1);
    used.holders.push({ holder: newHolder(), scopes, token: null });
    await group.servers[0]?.kill('SIGKILL');
    const { slots } = used;
    const answer = await eventually(
      'the next master answers',
      () => slots.acquire(newHolder(), scopes, TTL_MS, NOW).catch(() => null),
      FAILOVER_MS,
    );
    expect(answer).toEqual({ kind: 'FULL', scope: scopes[0]?.scope });
    await say('Redis Sentinel');
  }, 60_000);
});
