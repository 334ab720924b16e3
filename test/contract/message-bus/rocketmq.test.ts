import { setTimeout as wait } from 'node:timers/promises';

import type { Pool } from 'pg';

import { createSystemClock } from '../../../src/adapters/clock/system-clock';
import { createPostgresBus } from '../../../src/adapters/postgres/bus/postgres-bus';
import { createRocketmqBus, type RocketmqBus } from '../../../src/adapters/rocketmq/rocketmq-bus';
import type { MessageBus } from '../../../src/ports/message-bus';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { describeIfAvailable } from '../../support/requirements';
import { openRebuildablePool } from '../open-rebuildable-pool';
import { createRecordingLog } from '../recording-log';
import type { BusHarness } from './bus-harness';
import { describeMessageBus } from './describe-message-bus';
import { startTestRocketmq, type TestRocketmq } from './rocketmq-server';

const DELIVERIES_MAX = 4;
const LEASE_MS = 2_000;
const PREFIXES = 20;

jest.setTimeout(120_000);
/** Java starts slowly on a machine that is busy. */
const START_MS_MAX = 300_000;

describeIfAvailable('rocketmq', 'RocketMQ', () => {
  let rocketmq: TestRocketmq;
  let database: TestDatabase;
  let pool: Pool;
  const closing: Promise<void>[] = [];

  beforeAll(async () => {
    [rocketmq, database] = await Promise.all([startTestRocketmq(PREFIXES), createTestDatabase()]);
    pool = openRebuildablePool(database.url);
  }, START_MS_MAX);
  afterAll(async () => {
    await Promise.all(closing);
    await Promise.all([rocketmq.stop(), pool.end().then(() => database.drop())]);
  });
  afterEach(() => database.pool.query('TRUNCATE bus_messages'));

  const openBus = (prefix: string): RocketmqBus => {
    const log = createRecordingLog();
    return createRocketmqBus({
      endpoints: rocketmq.server.endpoints,
      prefix,
      credentials: null,
      waiting: createPostgresBus({ pool, log, deliveriesMax: DELIVERIES_MAX }),
      clock: createSystemClock(0),
      log,
      deliveriesMax: DELIVERIES_MAX,
      onArrival: () => undefined,
    });
  };

  const openHarness = (): Promise<BusHarness> => {
    const prefix = rocketmq.nextPrefix();
    const opened: RocketmqBus[] = [];
    return Promise.resolve({
      open: (): Promise<MessageBus> => {
        const bus = openBus(prefix);
        opened.push(bus);
        return Promise.resolve(bus);
      },
      now: () => new Date(),
      pass: (ms) => wait(ms),
      deliveriesMax: DELIVERIES_MAX,
      leaseMs: LEASE_MS,
      delayMs: 1_000,
      keepsOrder: false,
      mayRepeat: true,
      settleMs: 600,
      dispose: () => {
        // A poll that is under way ends by itself; the next test need not wait for it.
        closing.push(...opened.map((bus) => bus.close()));
        return Promise.resolve();
      },
    });
  };

  describeMessageBus('rocketmq', openHarness);
});
