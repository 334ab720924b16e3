import type { Pool } from 'pg';

import { createSystemClock } from '../../../src/adapters/clock/system-clock';
import { createPostgresBus } from '../../../src/adapters/postgres/bus/postgres-bus';
import { APPLIED, type Consumer } from '../../../src/flow/consume';
import type { MessageBus } from '../../../src/ports/message-bus';
import { createPromMetrics } from '../../../src/adapters/telemetry/prom-metrics';
import { startConsumer, type ConsumerOptions } from '../../../src/runtime/consumer';
import type { RunningLoop } from '../../../src/runtime/loop';
import { makeQueuedMessages } from '../../contract/message-bus/make-messages';
import { openRebuildablePool } from '../../contract/open-rebuildable-pool';
import { createRecordingLog } from '../../contract/recording-log';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';

jest.setTimeout(30_000);

const clock = createSystemClock(0);
let database: TestDatabase;
let pool: Pool;
let bus: MessageBus;
let running: RunningLoop[];

beforeEach(async () => {
  database = await createTestDatabase();
  pool = openRebuildablePool(database.url);
  bus = createPostgresBus({ pool, log: createRecordingLog(), deliveriesMax: 20 });
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((each) => each.stop()));
  await pool.end();
  await database.drop();
});

const start = (handler: Consumer, changes: Partial<ConsumerOptions> = {}): RunningLoop => {
  const consumer = startConsumer({
    group: 'scheduler',
    handlers: { 'generation.queued': handler },
    bus,
    clock,
    metrics: createPromMetrics({ process: 'test', onLookFailed: () => undefined }),
    random: () => 0,
    log: createRecordingLog(),
    listen: () => Promise.resolve(() => Promise.resolve()),
    concurrency: 4,
    leaseMs: 600,
    slowPollMs: 50,
    drainMs: 5_000,
    ...changes,
  });
  running.push(consumer);
  return consumer;
};

const publishOne = (): Promise<void> => {
  const now = clock.now();
  return bus.publish(makeQueuedMessages(1, now), now);
};

const rows = async (): Promise<{ available_at: Date; last_error: string | null }[]> =>
  (
    await database.pool.query<{ available_at: Date; last_error: string | null }>(
      'SELECT available_at, last_error FROM bus_messages',
    )
  ).rows;

const emptied = (): Promise<true> =>
  eventually('an empty bus', async () => ((await rows()).length === 0 ? true : null));

const createGate = (): { readonly opened: Promise<void>; readonly open: () => void } => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
};

/** A use case that says that it has begun, and ends when its gate opens. */
const createSlow = () => {
  const gate = createGate();
  const seen = { begun: 0, ended: 0 };
  const handler: Consumer = async () => {
    seen.begun += 1;
    await gate.opened;
    seen.ended += 1;
    return APPLIED;
  };
  const begun = (): Promise<true> =>
    eventually('the start of the work', () => (seen.begun > 0 ? true : null));
  return { handler, seen, begun, open: gate.open };
};

describe('a consumer with work in hand', () => {
  it('renews the lease of a message that takes longer than it: no other gets it', async () => {
    const slow = createSlow();
    await publishOne();
    start(slow.handler);
    await slow.begun();
    const firstEnd = (await rows())[0]?.available_at.getTime() ?? 0;
    let looks = 0;
    start(slow.handler, {
      bus: { ...bus, receive: (...args) => ((looks += 1), bus.receive(...args)) },
    });
    await eventually('the end of the first lease', () => clock.now().getTime() > firstEnd || null);
    const before = looks;
    await eventually('two more looks of the other', () => looks > before + 1 || null);
    slow.open();
    await emptied();
    expect(slow.seen).toEqual({ begun: 1, ended: 1 });
  });

  it('that is stopped finishes and acknowledges it, and takes nothing new', async () => {
    const slow = createSlow();
    await publishOne();
    const consumer = start(slow.handler);
    await slow.begun();
    const stopped = consumer.stop();
    await publishOne();
    slow.open();
    await stopped;
    expect(slow.seen).toEqual({ begun: 1, ended: 1 });
    expect(await rows()).toHaveLength(1);
  });

  it('that is stopped tells work that lasts too long to end, and hands it back', async () => {
    await publishOne();
    let begun = false;
    const consumer = start(
      (_, signal) =>
        new Promise((_resolve, reject) => {
          begun = true;
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
      { drainMs: 100 },
    );
    await eventually('the start of the work', () => begun || null);
    await consumer.stop();
    expect(await rows()).toMatchObject([{ last_error: 'Error: the worker is stopping' }]);
  });

  it('goes on by itself after the bus was out of reach', async () => {
    let failures = 3;
    const slow = createSlow();
    slow.open();
    await publishOne();
    start(slow.handler, {
      bus: {
        ...bus,
        receive: (...args) => {
          failures -= 1;
          return failures >= 0 ? Promise.reject(new Error('away')) : bus.receive(...args);
        },
      },
    });
    await emptied();
    expect(slow.seen).toEqual({ begun: 1, ended: 1 });
  });
});
