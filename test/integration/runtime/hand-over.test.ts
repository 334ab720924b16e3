import { uuidv7 } from 'uuidv7';
import type { Pool } from 'pg';

import { createSystemClock } from '../../../src/adapters/clock/system-clock';
import { createUnitOfWork } from '../../../src/adapters/postgres';
import { createHandOver } from '../../../src/adapters/postgres/bus/hand-over';
import { createPostgresOutboxMover } from '../../../src/adapters/postgres/bus/outbox-mover';
import { createPostgresBus } from '../../../src/adapters/postgres/bus/postgres-bus';
import { APPLIED, type Consumed } from '../../../src/flow/consume';
import type { Envelope } from '../../../src/ports/messages';
import { createPromMetrics } from '../../../src/adapters/telemetry/prom-metrics';
import { startConsumer } from '../../../src/runtime/consumer';
import { openRebuildablePool } from '../../contract/open-rebuildable-pool';
import { createRecordingLog } from '../../contract/recording-log';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';

const clock = createSystemClock(0);
const LEASE_MS = 1_000;
let database: TestDatabase;
let pool: Pool;
let stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  pool = openRebuildablePool(database.url);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
afterEach(async () => {
  await Promise.all(stops.map((stop) => stop()));
  stops = [];
  await database.pool.query('TRUNCATE bus_messages, outbox_events');
});

/** A process with one consumer, and the unit of work whose messages it may be handed. */
const openProcess = (handler: (envelope: Envelope) => Promise<Consumed>, concurrency = 2) => {
  const log = createRecordingLog();
  const handOver = createHandOver({ pool, clock, log, leaseMs: LEASE_MS });
  const rings: string[] = [];
  const uow = createUnitOfWork({
    pool,
    bell: { ring: (channel) => void rings.push(channel) },
    log,
    handOver,
  });
  const bus = handOver.behind(createPostgresBus({ pool, log, deliveriesMax: 5 }));
  const consumer = startConsumer({
    group: 'scheduler',
    handlers: { 'generation.queued': handler },
    bus,
    clock,
    metrics: createPromMetrics({ process: 'test', onLookFailed: () => undefined }),
    random: () => 0,
    log,
    listen: () => Promise.resolve(() => Promise.resolve()),
    handOver,
    concurrency,
    leaseMs: LEASE_MS,
    slowPollMs: 100,
    drainMs: 1_000,
  });
  stops.push(() => consumer.stop());
  return { uow, bus, rings, consumer };
};

/** Work that lasts until it is told to end, at the latest with the test. */
const openWork = () => {
  let end: () => void = () => undefined;
  const work = new Promise<Consumed>((resolve) => {
    end = () => resolve(APPLIED);
  });
  stops.unshift(() => Promise.resolve(end()));
  return { work, end };
};

const announce = async (
  uow: ReturnType<typeof openProcess>['uow'],
  availableAt?: Date,
): Promise<string> => {
  const now = clock.now();
  const eventId = uuidv7();
  const taskId = uuidv7();
  await uow.transact((tx) =>
    tx.outbox.add(
      {
        type: 'generation',
        id: taskId,
        version: 3,
        tenantId: uuidv7(),
        traceId: 'trace',
        causationId: 'cause',
      },
      [
        {
          eventId,
          type: 'generation.queued',
          payload: { taskId },
          availableAt: availableAt ?? now,
        },
      ],
      now,
    ),
  );
  return eventId;
};

const rowOf = async (eventId: string) => {
  const { rows } = await database.pool.query<{ status: string; available_at: Date }>(
    'SELECT status, available_at FROM outbox_events WHERE id = $1',
    [eventId],
  );
  return rows[0];
};

const onBus = async (): Promise<number> =>
  (await database.pool.query('SELECT FROM bus_messages')).rowCount ?? 0;

const relay = async (): Promise<number> =>
  createPostgresOutboxMover({ pool }).moveBatch(clock.now(), 100);

test('a committed message reaches the consumer beside it without relay and bus, and is marked as out', async () => {
  const seen: Envelope[] = [];
  const { uow, rings } = openProcess((envelope) => (seen.push(envelope), Promise.resolve(APPLIED)));
  const eventId = await announce(uow);
  await eventually('it is handled', () => (seen.length === 1 ? true : null));
  await eventually('it is marked', async () =>
    (await rowOf(eventId))?.status === 'PUBLISHED' ? true : null,
  );
  expect(seen[0]).toMatchObject({
    eventId,
    eventType: 'generation.queued',
    aggregateVersion: 3,
    traceId: 'trace',
    causationId: 'cause',
  });
  expect(rings).toEqual([]);
  expect(await relay()).toBe(0);
  expect(await onBus()).toBe(0);
});

test('after a rollback nobody is handed anything', async () => {
  const seen: string[] = [];
  const { uow } = openProcess(({ eventId }) => (seen.push(eventId), Promise.resolve(APPLIED)));
  await expect(
    uow.transact(async (tx) => {
      const now = clock.now();
      const taskId = uuidv7();
      await tx.outbox.add(
        {
          type: 'generation',
          id: taskId,
          version: 1,
          tenantId: null,
          traceId: 't',
          causationId: null,
        },
        [{ eventId: uuidv7(), type: 'generation.queued', payload: { taskId }, availableAt: now }],
        now,
      );
      throw new Error('rolled back');
    }),
  ).rejects.toThrow('rolled back');
  const later = await announce(uow);
  await eventually('the next one is handled', () => (seen.length > 0 ? true : null));
  expect(seen).toEqual([later]);
});

test('one that dies with its process takes the long way when its lease ends, and not before', async () => {
  const { work: death } = openWork();
  const first = openProcess(() => death);
  // Of a process that is gone nobody renews the lease: the heartbeat's own statement is held up here.
  const extend = jest.spyOn(first.bus, 'extend').mockResolvedValue(1);
  const eventId = await announce(first.uow);
  expect(await relay()).toBe(0);
  await eventually('the lease has ended', async () => ((await relay()) === 1 ? true : null));
  const seen: string[] = [];
  openProcess(({ eventId: id }) => (seen.push(id), Promise.resolve(APPLIED)));
  await eventually('another process handles it', () => (seen.length === 1 ? true : null));
  expect(seen).toEqual([eventId]);
  extend.mockRestore();
});

test('a long piece of work keeps its message from the relay', async () => {
  const { work, end } = openWork();
  const { uow } = openProcess(() => work);
  const eventId = await announce(uow);
  const first = (await rowOf(eventId))?.available_at.getTime() ?? 0;
  await eventually('the lease is renewed beyond its end', async () => {
    expect(await relay()).toBe(0);
    const until = (await rowOf(eventId))?.available_at.getTime() ?? 0;
    return until > first + LEASE_MS ? true : null;
  });
  end();
  await eventually('it is marked', async () =>
    (await rowOf(eventId))?.status === 'PUBLISHED' ? true : null,
  );
});

test('one that is handed back comes again over the bus at its time', async () => {
  const seen: number[] = [];
  const at = new Date(clock.now().getTime() + 200);
  const { uow } = openProcess(() => {
    seen.push(Date.now());
    return Promise.resolve(seen.length === 1 ? { kind: 'RETRY', at, reason: 'not yet' } : APPLIED);
  });
  await announce(uow);
  await eventually('it is back in the outbox and moved', async () =>
    (await relay()) === 1 ? true : null,
  );
  await eventually('it is handled again', () => (seen.length === 2 ? true : null));
  expect(seen[1]).toBeGreaterThanOrEqual(at.getTime());
});

test('what is due later, or finds no room, or no consumer any more, goes by the relay', async () => {
  const { work, end } = openWork();
  const { uow, rings, consumer } = openProcess(() => work, 1);
  await announce(uow, new Date(clock.now().getTime() + 60_000));
  expect(rings).toHaveLength(1);
  await announce(uow);
  expect(rings).toHaveLength(1);
  await announce(uow);
  expect(rings).toHaveLength(2);
  expect(await relay()).toBe(1);
  end();
  await consumer.stop();
  await announce(uow);
  expect(rings).toHaveLength(3);
  expect(await relay()).toBe(1);
});
