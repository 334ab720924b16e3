import {
  createRedisConnection,
  type RedisConnection,
} from '../../../src/adapters/redis/redis-connection';
import { createRedisSlots } from '../../../src/adapters/redis/slots/redis-slots';
import { SlotsUnavailableError, type SlotHolder, type Slots } from '../../../src/ports/slots';
import { eventually } from '../../support/eventually';
import { startTestRedis, type TestRedis } from '../../support/redis';
import { describeIfAvailable } from '../../support/requirements';
import { createRecordingLog } from '../recording-log';
import { describeSlots } from './describe-slots';
import { acquireToken, after, makeScopes, namesOf, newHolder, NOW, TTL_MS } from './slots-harness';

const CALL_TIMEOUT_MS = 300;
const SETTLE_MS = 2_000;

describeIfAvailable('redis', 'slots in Redis', () => {
  let redis: TestRedis;
  let connections: RedisConnection[];
  /** What Postgres would say. */
  let holders: SlotHolder[];
  let ended: string[];

  beforeAll(async () => {
    redis = await startTestRedis();
  });
  afterAll(() => redis.end('slots'));
  beforeEach(() => {
    connections = [];
    holders = [];
    ended = [];
  });
  afterEach(async () => {
    await Promise.all(connections.map((each) => each.close()));
    await redis.server.flush();
  });

  const open = (settleMs = 0): Slots => {
    const log = createRecordingLog();
    const connection = createRedisConnection({
      url: redis.server.url,
      name: 'slots',
      log,
      callTimeoutMs: CALL_TIMEOUT_MS,
    });
    connections.push(connection);
    return createRedisSlots({
      connection,
      prefix: 'test',
      log,
      settleMs,
      facts: {
        holders: () => Promise.resolve(holders),
        endedAmong: (asked) => Promise.resolve(asked.filter((each) => ended.includes(each))),
      },
    });
  };
  /** Two processes are enough for all of the contract. */
  let processes: Slots[] = [];
  const contractOf = () => {
    processes = [open(), open()];
    return {
      slots: processes[0]!,
      open: () => Promise.resolve(processes[1]!),
      flush: () => redis.server.flush(),
    };
  };
  describe('the contract', () => {
    let harness: ReturnType<typeof contractOf>;
    beforeEach(() => {
      harness = contractOf();
    });
    describeSlots('redis', () => harness);
  });

  const holderOf = (scopes: SlotHolder['scopes']): SlotHolder => ({
    holder: newHolder(),
    scopes,
    token: null,
  });

  it('keeps only keys that run out', async () => {
    await acquireToken(open(), newHolder(), makeScopes(2));
    await redis.server.admin(async (client) => {
      const keys = await client.keys('*');
      expect(keys.length).toBeGreaterThanOrEqual(5);
      for (const key of keys) {
        expect(key).toMatch(/^\{test:slots\}:/);
        expect(await client.pttl(key)).toBeGreaterThan(0);
      }
    });
  });

  it('grants nothing from a flushed store before the attempts were counted, and never more than fit', async () => {
    const slots = open();
    const scopes = makeScopes(2);
    await acquireToken(slots, newHolder(), scopes);
    holders = [holderOf(scopes), holderOf(scopes)];
    await redis.server.flush();

    expect((await slots.acquire(newHolder(), scopes, TTL_MS, NOW)).kind).toBe('FULL');
    expect(Object.values(await slots.usage(namesOf(scopes)))).toEqual([2, 2, 2, 2]);
  });

  it('waits after a loss until whoever had a slot has committed, and counts then', async () => {
    const slots = open(SETTLE_MS);
    const scopes = makeScopes(1);
    const acquireAt = (ms: number) => slots.acquire(newHolder(), scopes, TTL_MS, after(ms));
    await expect(acquireAt(0)).rejects.toThrow(SlotsUnavailableError);
    // The look of the reconciler opens nothing before its time.
    await slots.rebuild([], TTL_MS, after(1));
    await expect(acquireAt(SETTLE_MS - 1)).rejects.toThrow(SlotsUnavailableError);
    holders = [holderOf(scopes)];
    expect((await acquireAt(SETTLE_MS)).kind).toBe('FULL');
  });

  it('gives tokens after a flush that rise above all that attempts began with', async () => {
    const slots = open();
    const ahead = BigInt(Date.now() + 86_400_000) * 1_000n;
    holders = [{ ...holderOf(makeScopes(1)), token: ahead }];
    expect(await acquireToken(slots, newHolder(), makeScopes(1))).toBeGreaterThan(ahead);
  });

  it('keeps no lease of an attempt that ended after the list was read', async () => {
    const slots = open();
    const scopes = makeScopes(1);
    const [stale, gone] = [holderOf(scopes), newHolder()];
    await acquireToken(slots, gone, scopes);
    ended = [stale.holder, gone];
    expect(await slots.rebuild([stale], TTL_MS, NOW)).toMatchObject({ removed: 2, added: 1 });
    expect(Object.values(await slots.usage(namesOf(scopes)))).toEqual([0, 0, 0, 0]);
  });

  it('grants nothing while the server is gone, counts the attempts for whoever asks, and comes back right', async () => {
    const slots = open();
    const scopes = makeScopes(2);
    const mine = newHolder();
    await acquireToken(slots, mine, scopes);
    holders = [{ holder: mine, scopes, token: null }];
    await redis.server.kill('SIGKILL');

    await expect(slots.acquire(newHolder(), scopes, TTL_MS, NOW)).rejects.toThrow(
      SlotsUnavailableError,
    );
    expect(Object.values(await slots.usage(namesOf(scopes)))).toEqual([1, 1, 1, 1]);
    await expect(slots.rebuild(holders, TTL_MS, NOW)).rejects.toThrow(SlotsUnavailableError);

    await redis.server.start();
    await eventually('slots are granted again', () =>
      slots.acquire(newHolder(), scopes, TTL_MS, NOW).then(
        ({ kind }) => kind === 'ACQUIRED' || null,
        () => null,
      ),
    );
    expect((await slots.acquire(newHolder(), scopes, TTL_MS, NOW)).kind).toBe('FULL');
  });

  it('frees what a deaf server gave to nobody, and never grants it twice', async () => {
    const slots = open();
    const scopes = makeScopes(1);
    await slots.usage(namesOf(scopes));
    await acquireToken(slots, newHolder(), makeScopes(1));
    await redis.server.kill('SIGSTOP');
    await expect(slots.acquire(newHolder(), scopes, TTL_MS, NOW)).rejects.toThrow(
      SlotsUnavailableError,
    );
    await redis.server.kill('SIGCONT');

    const kept = newHolder();
    await eventually('the next one gets it', () =>
      slots.acquire(kept, scopes, TTL_MS, NOW).then(
        ({ kind }) => kind === 'ACQUIRED' || null,
        () => null,
      ),
    );
    expect((await slots.acquire(newHolder(), scopes, TTL_MS, NOW)).kind).toBe('FULL');
    expect(Object.values(await slots.usage(namesOf(scopes)))).toEqual([1, 1, 1, 1]);
  });

  it('counts anew when it lost sight of the server, which may be another one now', async () => {
    const slots = open();
    const scopes = makeScopes(1);
    await acquireToken(slots, newHolder(), makeScopes(1));
    holders = [holderOf(scopes)];
    await redis.server.admin((client) => client.call('CLIENT', 'KILL', 'TYPE', 'normal'));
    expect(
      await eventually('an answer', () =>
        slots.acquire(newHolder(), scopes, TTL_MS, NOW).catch(() => null),
      ),
    ).toEqual({ kind: 'FULL', scope: scopes[0]!.scope });
  });
});
