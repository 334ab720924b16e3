import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

import type { Pool } from 'pg';

import { createSystemClock } from '../../../src/adapters/clock/system-clock';
import { createPostgresBus } from '../../../src/adapters/postgres/bus/postgres-bus';
import { createOutboxRelayStore } from '../../../src/adapters/postgres/stores/outbox-relay-store';
import { createUnitOfWork } from '../../../src/adapters/postgres/unit-of-work';
import { createRocketmqBus, type RocketmqBus } from '../../../src/adapters/rocketmq/rocketmq-bus';
import { createOutboxRelay } from '../../../src/flow/relay/relay-outbox';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { describeIfAvailable } from '../../support/requirements';
import { addMessages } from '../../flow/03-relay/relay-setup';
import { openRebuildablePool } from '../open-rebuildable-pool';
import { createRecordingLog, type LogLine } from '../recording-log';
import { startTestRocketmq, type TestRocketmq } from './rocketmq-server';

const GROUP = 'scheduler';
const LEASE_MS = 5_000;
/** Between two transactions that write a message. */
const WRITE_EVERY_MS = 50;
/** Java starts slowly on a machine that is busy. */
const START_MS_MAX = 300_000;
const COMES_BACK_MS_MAX = 120_000;

jest.setTimeout(600_000);

let database: TestDatabase;
let pool: Pool;
const log = createRecordingLog();

beforeAll(async () => {
  database = await createTestDatabase();
  pool = openRebuildablePool(database.url);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const openBus = (endpoints: string, prefix: string, logOf = log): RocketmqBus =>
  createRocketmqBus({
    ...{ endpoints, prefix, credentials: null },
    waiting: createPostgresBus({ pool, log: logOf, deliveriesMax: 20 }),
    ...{ clock: createSystemClock(0), log: logOf, deliveriesMax: 20 },
    onArrival: () => undefined,
  });

/** Repeats `step` until it is told to stop; what it throws ends it and is thrown by `stop`. */
const repeat = (step: () => Promise<unknown>, everyMs: number): { stop(): Promise<void> } => {
  let stopped = false;
  const run = (async () => {
    while (!stopped) {
      await step();
      await wait(everyMs);
    }
  })();
  // Judged when it is stopped.
  run.catch(() => undefined);
  return {
    stop: () => {
      stopped = true;
      return run;
    },
  };
};

describeIfAvailable('rocketmq', 'a broker that is killed and comes back', () => {
  let rocketmq: TestRocketmq;
  beforeAll(async () => {
    rocketmq = await startTestRocketmq(1);
  }, START_MS_MAX);
  afterAll(() => rocketmq.stop());

  it('loses nothing: the relay pauses and goes on, and health tells', async () => {
    const prefix = rocketmq.nextPrefix();
    // As one process that relays and reads: what fails must show beside what does not.
    const bus = openBus(rocketmq.server.endpoints, prefix);
    const relay = createOutboxRelay({ store: createOutboxRelayStore(pool), bus, log });
    const uow = createUnitOfWork({ pool, bell: { ring: () => undefined }, log });
    const written: string[] = [];
    const received = new Set<string>();
    const running = [
      repeat(async () => {
        written.push(...(await uow.transact((tx) => addMessages(tx, 1, new Date()))));
      }, WRITE_EVERY_MS),
      repeat(() => relay.moveBatch(new Date(), 50), 20),
      repeat(async () => {
        const deliveries = await bus.receive(GROUP, {
          ...{ max: 16, leaseMs: LEASE_MS },
          now: new Date(),
        });
        for (const { envelope } of deliveries) received.add(envelope.eventId);
        await bus.acknowledge(GROUP, deliveries);
      }, 20),
    ];
    const receives = (count: number): Promise<true> =>
      eventually(
        `${String(count)} messages came`,
        () => (received.size >= count ? true : null),
        COMES_BACK_MS_MAX,
      );

    await receives(20);
    expect(await bus.health()).toMatchObject({ ok: true });

    await rocketmq.server.kill();
    await eventually(
      'health tells of sending and of receiving',
      async () => {
        const { ok } = await bus.health();
        return !ok && failedAt(log.lines, 'sending') && failedAt(log.lines, 'receiving')
          ? true
          : null;
      },
      COMES_BACK_MS_MAX,
    );
    expect((await bus.health()).detail).toContain(`AIVEDIO_ROCKETMQ_ENDPOINTS: ` as const);
    const atOutage = written.length;
    await eventually(
      'more is written',
      () => (written.length > atOutage + 40 ? true : null),
      60_000,
    );
    const rows = await database.pool.query<{ status: string; count: number }>(
      'SELECT status, count(*)::int AS count FROM outbox_events GROUP BY status',
    );
    const counted = Object.fromEntries(rows.rows.map(({ status, count }) => [status, count]));
    expect(counted['PENDING']).toBeGreaterThan(40);
    expect(counted['DEAD']).toBeUndefined();
    expect(log.lines.filter(({ message }) => /bus/.test(message)).length).toBeGreaterThan(0);

    await rocketmq.server.start();
    await receives(written.length);
    expect(
      await eventually(
        'health is well',
        async () => {
          const health = await bus.health();
          return health.ok ? health : null;
        },
        COMES_BACK_MS_MAX,
      ),
    ).toMatchObject({ ok: true });

    const [writer, ...others] = running;
    await writer?.stop();
    await eventually(
      'all came',
      () => (written.every((id) => received.has(id)) ? true : null),
      COMES_BACK_MS_MAX,
    );
    await Promise.all(others.map((each) => each.stop()));
    expect([...received].sort()).toEqual([...written].sort());
    const left = await database.pool.query(
      `SELECT id FROM outbox_events WHERE status <> 'PUBLISHED'`,
    );
    expect(left.rows).toEqual([]);
    await bus.close();
  });
});

const failedAt = (lines: readonly LogLine[], what: string): boolean =>
  lines.some(
    ({ level, message }) =>
      level === 'error' && message.startsWith(`AIVEDIO_ROCKETMQ_ENDPOINTS: ${what}`),
  );

describe('an address where nobody answers', () => {
  const PROBE_MS_MAX = 3_000;

  it('is told at the start in one line with variable, attempt and remedy, before the client says a word', async () => {
    const quiet = createRecordingLog();
    const bus = openBus('127.0.0.1:9', 'none', quiet);
    await bus.checkAtStart();
    const expected =
      /^AIVEDIO_ROCKETMQ_ENDPOINTS: connecting at 127\.0\.0\.1:9: connect ECONNREFUSED 127\.0\.0\.1:9; start the RocketMQ proxy there, or correct the address/;
    expect(quiet.lines).toMatchObject([
      { level: 'error', message: expect.stringMatching(expected) },
    ]);
    const began = performance.now();
    const health = await bus.health();
    expect(performance.now() - began).toBeLessThan(PROBE_MS_MAX);
    expect(health.ok).toBe(false);
    expect(health.detail).toMatch(
      /^AIVEDIO_ROCKETMQ_ENDPOINTS: sending at 127\.0\.0\.1:9: connect/,
    );
    expect(quiet.lines.filter(({ message }) => message === 'rocketmq client')).toEqual([]);
    await bus.close();
  });

  it('that belongs to another server is told to a probe within its time', async () => {
    const sockets = new Set<Socket>();
    const stranger = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
    });
    await new Promise<void>((resolve) => {
      stranger.listen(0, '127.0.0.1', resolve);
    });
    const { port } = stranger.address() as AddressInfo;
    const endpoints = `127.0.0.1:${String(port)}`;
    const bus = openBus(endpoints, 'none', createRecordingLog());
    const began = performance.now();
    const health = await bus.health();
    expect(performance.now() - began).toBeLessThan(PROBE_MS_MAX);
    expect(health).toMatchObject({
      ok: false,
      detail: expect.stringContaining(
        `AIVEDIO_ROCKETMQ_ENDPOINTS: sending at ${endpoints}: no answer`,
      ),
    });
    stranger.close();
    for (const socket of sockets) socket.destroy();
    await bus.close();
  });
});
