import type { Pool } from 'pg';

import { createPostgresBus } from '../../../src/adapters/postgres/bus/postgres-bus';
import type { MessageBus } from '../../../src/ports/message-bus';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { openRebuildablePool } from '../open-rebuildable-pool';
import { createRecordingLog } from '../recording-log';
import { onBus, only, type BusAtNow, type BusHarness } from './bus-harness';
import { describeMessageBus } from './describe-message-bus';
import { makeQueuedMessages } from './make-messages';

const DELIVERIES_MAX = 3;
const LEASE_MS = 30_000;
const START = new Date('2026-12-01T08:00:00.000Z');

/** One database for the file: a copy costs more than all tests on it together. */
let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = openRebuildablePool(database.url);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
afterEach(() => database.pool.query('TRUNCATE bus_messages'));

const openBus = (): MessageBus =>
  createPostgresBus({ pool, log: createRecordingLog(), deliveriesMax: DELIVERIES_MAX });

const makeHarness = (): BusHarness => {
  let now = START;
  return {
    open: () => Promise.resolve(openBus()),
    now: () => now,
    pass: (ms) => {
      now = new Date(now.getTime() + ms);
      return Promise.resolve();
    },
    deliveriesMax: DELIVERIES_MAX,
    leaseMs: LEASE_MS,
    delayMs: 60_000,
    keepsOrder: true,
    mayRepeat: false,
    settleMs: 0,
    dispose: () => Promise.resolve(),
  };
};

describeMessageBus('postgres', () => Promise.resolve(makeHarness()));

describe('the Postgres bus', () => {
  let bus: BusAtNow;
  beforeEach(() => {
    bus = onBus(makeHarness(), openBus());
  });

  it('keeps one row of a message that is published twice', async () => {
    const messages = makeQueuedMessages(2, START);
    await bus.publish(messages);
    await bus.publish(messages);
    expect(await bus.receive()).toHaveLength(2);
  });

  it('keeps the last error of a dead message', async () => {
    await bus.publish(makeQueuedMessages(1, START));
    for (let delivery = 1; delivery <= DELIVERIES_MAX; delivery += 1) {
      await bus.retryIn(only(await bus.receive()), 0, `failure ${String(delivery)}`);
    }
    const { rows } = await database.pool.query('SELECT status, last_error FROM bus_messages');
    expect(rows).toEqual([{ status: 'DEAD', last_error: 'failure 3' }]);
  });

  it('sets a message aside that this version cannot read, and delivers the others', async () => {
    await bus.publish(makeQueuedMessages(2, START));
    await database.pool.query(
      `UPDATE bus_messages SET envelope = envelope || '{"eventType": "from.tomorrow"}'
       WHERE id = (SELECT min(id) FROM bus_messages)`,
    );
    expect(await bus.receive()).toHaveLength(1);
    expect(await bus.receive()).toEqual([]);
    const { rows } = await database.pool.query(
      'SELECT available_at, last_error FROM bus_messages WHERE last_error IS NOT NULL',
    );
    expect(only(rows)).toEqual({
      available_at: new Date(START.getTime() + LEASE_MS),
      last_error: expect.stringContaining('eventType'),
    });
  });

  it('fills a batch although some of it cannot be read: less than asked for means that no more is there', async () => {
    await bus.publish(makeQueuedMessages(4, START));
    await database.pool.query(
      `UPDATE bus_messages SET envelope = envelope || '{"eventType": "from.tomorrow"}'
       WHERE id = (SELECT min(id) FROM bus_messages)`,
    );
    expect(await bus.receive(2)).toHaveLength(2);
  });

  it('works on after all its connections were cut', async () => {
    await bus.publish(makeQueuedMessages(1, START));
    await database.pool.query(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'bus'`,
    );
    // A statement that meets a connection before its end is known may fail; the one after it must not.
    const deliveries = await bus.receive().catch(() => bus.receive());
    expect(deliveries).toHaveLength(1);
  });
});
