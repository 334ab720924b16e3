import { uuidv7 } from 'uuidv7';
import type { Pool } from 'pg';

import { createPostgresBus } from '../../../src/adapters/postgres/bus/postgres-bus';
import { createSystemClock } from '../../../src/adapters/clock/system-clock';
import { APPLIED, type Consumer } from '../../../src/flow/consume';
import type { MessageBus } from '../../../src/ports/message-bus';
import { createPromMetrics } from '../../../src/adapters/telemetry/prom-metrics';
import { startConsumer, type ConsumerOptions } from '../../../src/runtime/consumer';
import { makeQueuedMessages } from '../../contract/message-bus/make-messages';
import { openRebuildablePool } from '../../contract/open-rebuildable-pool';
import { createRecordingLog } from '../../contract/recording-log';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';

const clock = createSystemClock(0);
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
  await database.pool.query('TRUNCATE bus_messages');
});

/** The real bus, with a count of its calls. */
const openBus = () => {
  const bus = createPostgresBus({ pool, log: createRecordingLog(), deliveriesMax: 5 });
  const calls = { receive: 0, acknowledge: 0, nextDueAt: 0 };
  const counted: MessageBus = {
    ...bus,
    receive: (...args) => ((calls.receive += 1), bus.receive(...args)),
    acknowledge: (...args) => ((calls.acknowledge += 1), bus.acknowledge(...args)),
    nextDueAt: (...args) => ((calls.nextDueAt += 1), bus.nextDueAt(...args)),
  };
  return { bus: counted, calls };
};

const start = (bus: MessageBus, handler: Consumer, options: Partial<ConsumerOptions> = {}) => {
  let ring: () => void = () => undefined;
  const running = startConsumer({
    group: 'scheduler',
    handlers: { 'generation.queued': handler },
    bus,
    clock,
    metrics: createPromMetrics({ process: 'test', onLookFailed: () => undefined }),
    random: () => 0,
    log: createRecordingLog(),
    listen: (wake) => {
      ring = wake;
      return Promise.resolve(() => Promise.resolve());
    },
    concurrency: 8,
    leaseMs: 10_000,
    slowPollMs: 60_000,
    drainMs: 5_000,
    ...options,
  });
  stops.push(() => running.stop());
  return { ring: () => ring(), stop: () => running.stop() };
};

const publish = (bus: MessageBus, count: number, aggregateId?: string) =>
  bus.publish(
    aggregateId === undefined
      ? Array.from({ length: count }, () => makeQueuedMessages(1, clock.now())).flat()
      : makeQueuedMessages(count, clock.now(), aggregateId),
    clock.now(),
  );

const leftOnBus = async (): Promise<number> =>
  Number((await database.pool.query('SELECT count(*) FROM bus_messages')).rows[0].count);

describe('a consumer', () => {
  it('works off a backlog in batches: far fewer looks and acknowledgements than messages', async () => {
    const { bus, calls } = openBus();
    await publish(bus, 160);
    let handled = 0;
    start(bus, () => {
      handled += 1;
      return Promise.resolve(APPLIED);
    });
    await eventually('an empty bus', async () => ((await leftOnBus()) === 0 ? true : null));
    expect(handled).toBe(160);
    expect(calls.receive).toBeLessThanOrEqual(60);
    expect(calls.acknowledge).toBeLessThanOrEqual(40);
  });

  it('takes the next message while a slow one is still at work', async () => {
    const { bus } = openBus();
    await publish(bus, 9);
    let release = (): void => undefined;
    const slow = new Promise<void>((resolve) => (release = resolve));
    let begun = 0;
    start(
      bus,
      async () => {
        begun += 1;
        if (begun === 1) await slow;
        return APPLIED;
      },
      { concurrency: 2 },
    );
    await eventually('the others', () => (begun === 9 ? true : null));
    release();
  });

  it('asks once what is due by itself, not at every ring', async () => {
    const { bus, calls } = openBus();
    const { ring } = start(bus, () => Promise.resolve(APPLIED));
    await eventually('the first look', () => (calls.nextDueAt === 1 ? true : null));
    for (let looks = calls.receive; looks < 6; looks = calls.receive) {
      ring();
      await eventually('another look', () => (calls.receive > looks ? true : null));
    }
    expect(calls.nextDueAt).toBe(1);
  });

  it('sees a message again when it handed it back, without a ring', async () => {
    const { bus } = openBus();
    await publish(bus, 1);
    let tries = 0;
    start(bus, () => {
      tries += 1;
      return Promise.resolve(
        tries === 1
          ? { kind: 'RETRY', at: new Date(clock.now().getTime() + 50), reason: 'not yet' }
          : APPLIED,
      );
    });
    await eventually('the second try', () => (tries === 2 ? true : null));
  });

  it('handles messages of one aggregate one after the other, in their order', async () => {
    const { bus } = openBus();
    await publish(bus, 20, uuidv7());
    const versions: number[] = [];
    let atOnce = 0;
    start(bus, async ({ aggregateVersion }) => {
      atOnce += 1;
      expect(atOnce).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      versions.push(aggregateVersion);
      atOnce -= 1;
      return APPLIED;
    });
    await eventually('all', () => (versions.length === 20 ? true : null));
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
  });

  it('hands a failed message back when the bus takes it again, and does not leave it to its lease', async () => {
    const { bus } = openBus();
    await publish(bus, 1);
    let refusals = 0;
    let tries = 0;
    const brokenBus: MessageBus = {
      ...bus,
      retryLater: async (...args) => {
        refusals += 1;
        if (refusals <= 3) throw new Error('the database is away');
        await bus.retryLater(...args);
      },
    };
    // A lease as long as the test itself may take: whoever waits for it never sees the message again.
    start(
      brokenBus,
      () => {
        tries += 1;
        return tries === 1
          ? Promise.reject(new Error('the database is away'))
          : Promise.resolve(APPLIED);
      },
      { leaseMs: 60_000 },
    );
    await eventually('the second try', () => (tries === 2 ? true : null), 30_000);
    expect(refusals).toBe(4);
  });

  it('goes on when the work in hand ended while it looked, though its hand was never full again', async () => {
    const { bus } = openBus();
    await publish(bus, 20, uuidv7());
    let looks = 0;
    let received = 0;
    let handled = 0;
    const slowBus: MessageBus = {
      ...bus,
      receive: async (...args) => {
        looks += 1;
        await eventually('the work in hand', () => (handled === received ? true : null));
        const deliveries = await bus.receive(...args);
        received += deliveries.length;
        return deliveries;
      },
    };
    start(slowBus, async () => {
      // Half of the first batch is left when the next look asks for as much as there is room for.
      if (handled === 4) await eventually('the second look', () => (looks === 2 ? true : null));
      handled += 1;
      return APPLIED;
    });
    await eventually('all', () => (handled === 20 ? true : null));
  });

  it('has acknowledged everything it did when it has stopped', async () => {
    const { bus } = openBus();
    await publish(bus, 8);
    let handled = 0;
    const { stop } = start(bus, () => {
      handled += 1;
      return Promise.resolve(APPLIED);
    });
    await eventually('all handled', () => (handled === 8 ? true : null));
    await stop();
    expect(await leftOnBus()).toBe(0);
  });
});
