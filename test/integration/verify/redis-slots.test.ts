import { randomUUID } from 'node:crypto';

import {
  createRedisConnection,
  type RedisConnection,
} from '../../../src/adapters/redis/redis-connection';
import { readHeldSlots } from '../../../src/adapters/redis/slots/held-slots';
import { createRedisSlots } from '../../../src/adapters/redis/slots/redis-slots';
import { slotKeysOf } from '../../../src/adapters/redis/slots/slot-keys';
import type { VerifyReport } from '../../../src/flow/verify/verify-facts';
import type { Slots } from '../../../src/ports/slots';
import { readConfig, type Config } from '../../../src/runtime/config';
import { verifyStored } from '../../../src/runtime/verify';
import { releaseByStaleToken, withSlots } from '../../../chaos/slots-of-world';
import type { TestDatabase } from '../../support/database';
import { startTestRedis, type TestRedis } from '../../support/redis';
import { describeIfAvailable } from '../../support/requirements';
import { createRecordingLog } from '../../contract/recording-log';
import { makeSoundFacts, type SoundFacts } from './sound-facts';

const CHECKS = ['slots_counted', 'slots_within_limits', 'slots_have_holders'];
const PREFIX = 'looked-at';
const KEYS = slotKeysOf(PREFIX);
const SCOPES = [
  { scope: 'platform', limitMax: 5 },
  { scope: 'tenant:1', limitMax: 3 },
];
const LONG_AGO = new Date('2020-01-01T00:00:00Z');
const TTL_MS = 3_600_000;

describeIfAvailable('redis', 'verify where Redis counts the slots', () => {
  let redis: TestRedis;
  let sound: SoundFacts;
  let database: TestDatabase;
  let connection: RedisConnection;
  let slots: Slots;
  let live: { readonly id: string; readonly token: bigint };
  let ended: string;

  beforeAll(async () => {
    [redis, sound] = await Promise.all([startTestRedis(), makeSoundFacts()]);
  }, 120_000);
  afterAll(() => redis.end('verify of slots'));
  beforeEach(async () => {
    database = await sound.copy();
    // What it took from Postgres goes, as where Redis was always there.
    await database.pool.query('DELETE FROM slot_leases');
    await database.pool.query('UPDATE slot_scopes SET in_use = 0');
    // What is younger than a minute may be under way.
    await database.pool.query('UPDATE task_attempts SET updated_at = $1', [LONG_AGO]);
    live = await readOne(`SELECT id, slot_token AS token FROM task_attempts
      WHERE status IN ('ACKED', 'RUNNING') AND slot_token IS NOT NULL`);
    ended = (
      await readOne<{ id: string }>(`SELECT id FROM task_attempts WHERE status = 'FAILED'
      OR status = 'SUCCEEDED' ORDER BY id LIMIT 1`)
    ).id;
    const log = createRecordingLog();
    connection = createRedisConnection({ url: redis.server.url, name: 'verify', log });
    slots = createRedisSlots({
      ...{ connection, prefix: PREFIX, log, settleMs: 0 },
      facts: { holders: () => Promise.resolve([]), endedAmong: () => Promise.resolve([]) },
    });
    await slots.rebuild(
      [{ holder: live.id, scopes: SCOPES, token: BigInt(live.token) }],
      TTL_MS,
      LONG_AGO,
    );
  }, 60_000);
  afterEach(async () => {
    await connection.close();
    await redis.server.flush();
    await database.drop();
  });

  const readOne = async <Row>(sql: string): Promise<Row> => {
    const { rows } = await database.pool.query(sql);
    if (rows[0] === undefined) throw new Error(`no row: ${sql}`);
    return rows[0] as Row;
  };
  const configOf = (redisUrl: string): Config =>
    readConfig({
      AIVEDIO_DATABASE_URL: database.url,
      AIVEDIO_DATA_DIR: '/nowhere',
      AIVEDIO_REDIS_URL: redisUrl,
      AIVEDIO_REDIS_PREFIX: PREFIX,
    });
  /** As `npm run cli -- verify` does it, from the configuration. */
  const verify = (redisUrl = redis.server.url): Promise<VerifyReport> =>
    verifyStored({
      config: configOf(redisUrl),
      log: createRecordingLog(),
      settleMs: 60_000,
      only: CHECKS,
      canaries: [],
      onBytes: null,
    });
  const change = (key: string, field: string, value: string): Promise<number> =>
    redis.server.admin((admin) => admin.hset(key, field, value));
  const leaseOf = async (holder: string): Promise<Record<string, unknown>> => {
    const text = await redis.server.admin((admin) => admin.hget(KEYS.leases, holder));
    return JSON.parse(text ?? '') as Record<string, unknown>;
  };

  it('finds them sound, and has looked at them', async () => {
    const report = await verify();
    expect(report.violations).toEqual([]);
    expect(report.checked.map(({ name }) => name)).toEqual(CHECKS);
    const seen = (await readHeldSlots(connection, PREFIX)).map(
      ({ kind, reference, amount }) => `${kind} ${reference} ${amount}`,
    );
    expect(seen.sort()).toEqual([
      `slot_lease ${live.id} null`,
      'slot_lease_scope platform null',
      'slot_lease_scope tenant:1 null',
      'slots_limit platform 5',
      'slots_limit tenant:1 3',
      'slots_used platform 1',
      'slots_used tenant:1 1',
    ]);
  });

  it('and the load that breaks things refuse a token that was fenced off, where there is a lease', async () => {
    const world = { config: configOf(redis.server.url), pool: database.pool };
    expect(await releaseByStaleToken(world)).toBe(false);
    expect(await withSlots(world, ({ leases }) => leases())).toEqual([
      { holder: live.id, token: BigInt(String((await leaseOf(live.id))['t'])) },
    ]);
    await slots.release(live.id, BigInt(String((await leaseOf(live.id))['t'])), LONG_AGO);
    expect(await releaseByStaleToken(world)).toBeNull();
  });

  it('sees nothing held where everything was given back', async () => {
    const { t } = await leaseOf(live.id);
    expect(await slots.release(live.id, BigInt(String(t)), LONG_AGO)).toBe(true);
    expect(await readHeldSlots(connection, PREFIX)).toEqual([]);
    expect((await verify()).violations).toEqual([]);
  });

  it.each<[string, string, () => Promise<unknown>, string]>([
    [
      'slots_have_holders',
      'a slot that nobody holds',
      () => slots.acquire(randomUUID(), SCOPES, TTL_MS, LONG_AGO),
      'is held for no attempt',
    ],
    [
      'slots_have_holders',
      'a slot of an attempt that has ended',
      () => slots.acquire(ended, SCOPES, TTL_MS, new Date()),
      'is held for an attempt that is',
    ],
    [
      'slots_have_holders',
      'a slot under the token of a holder that was fenced off',
      async () => {
        const token = String(BigInt(live.token) - 1n);
        await change(
          KEYS.leases,
          live.id,
          JSON.stringify({ ...(await leaseOf(live.id)), t: token }),
        );
      },
      'is held under token',
    ],
    [
      'slots_within_limits',
      'more than the limit',
      () => change(KEYS.limits, 'platform', '0'),
      '1 in use of 0',
    ],
    [
      'slots_counted',
      'a count without leases',
      () => change(KEYS.used, 'tenant:1', '2'),
      'counts 2 in use, 1 leases',
    ],
    [
      'slots_counted',
      'a lease that does not count',
      () => redis.server.admin((admin) => admin.hdel(KEYS.used, 'tenant:1')),
      'counts 0 in use, 1 leases',
    ],
  ])('%s sees %s, and nobody else does', async (invariant, _, plant, detail) => {
    await plant();
    const { violations } = await verify();
    expect(violations.map((each) => each.invariant)).toEqual([invariant]);
    expect(violations[0]?.detail).toContain(detail);
  });

  it('says so where Redis cannot be reached, and calls nothing sound', async () => {
    const report = await verify('redis://127.0.0.1:1');
    expect(report.checked).toEqual([]);
    expect(report.unseen.map(({ name, needs }) => [name, needs])).toEqual(
      CHECKS.map((name) => [name, 'slots']),
    );
  }, 60_000);
});
