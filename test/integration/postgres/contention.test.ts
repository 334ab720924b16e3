import type { Pool, PoolClient } from 'pg';

import { createPostgresBus } from '../../../src/adapters/postgres/bus/postgres-bus';
import { createPostgresSlots } from '../../../src/adapters/postgres/slots/postgres-slots';
import { makeQueuedMessages } from '../../contract/message-bus/make-messages';
import { openRebuildablePool } from '../../contract/open-rebuildable-pool';
import { createRecordingLog } from '../../contract/recording-log';
import { acquireToken, newHolder, NOW, TTL_MS } from '../../contract/slots/slots-harness';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';

/**
 * Two transactions that meet, made to meet: one holds a row lock until the other waits for it. What luck alone shows
 * on a busy machine is shown here every time.
 */
let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = openRebuildablePool(database.url, 'contender');
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
afterEach(() => database.pool.query('TRUNCATE bus_messages, slot_scopes, slot_leases'));

const waitUntilBlocked = (count: number) =>
  eventually(`${String(count)} statements wait for a lock`, async () => {
    const { rowCount } = await database.pool.query(
      `SELECT 1 FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'contender' AND wait_event_type = 'Lock'`,
    );
    return rowCount === count ? true : null;
  });

/** Another process in the middle of its transaction; commits when `work` is done. */
const inTransaction = async (work: (client: PoolClient) => Promise<void>): Promise<void> => {
  const client = await database.pool.connect();
  try {
    await client.query(`BEGIN; SET LOCAL lock_timeout = '500ms'`);
    await work(client);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
};

const scopesOf = (limitMax: number, ...names: string[]) =>
  names.map((scope) => ({ scope, limitMax }));

const addToScope = (client: PoolClient, scope: string) =>
  client.query('UPDATE slot_scopes SET in_use = in_use + 1 WHERE scope = $1', [scope]);

describe('receiving', () => {
  it('passes over a message that another receiver is leasing at this moment', async () => {
    const bus = createPostgresBus({ pool, log: createRecordingLog(), deliveriesMax: 3 });
    const messages = makeQueuedMessages(2, NOW);
    await bus.publish(messages, NOW);
    await inTransaction(async (client) => {
      await client.query('SELECT id FROM bus_messages ORDER BY id LIMIT 1 FOR UPDATE');
      const deliveries = await bus.receive('scheduler', { max: 2, leaseMs: 1_000, now: NOW });
      expect(deliveries.map(({ envelope }) => envelope)).toEqual([messages[1]!.envelope]);
    });
  }, 5_000);
});

describe('acquiring slots', () => {
  it('judges the count that the transaction before it left, not the one it saw first', async () => {
    const slots = createPostgresSlots({ pool });
    const scopes = scopesOf(2, 'platform');
    await acquireToken(slots, newHolder(), scopes);
    let answer: Promise<unknown> = Promise.resolve();
    await inTransaction(async (client) => {
      await addToScope(client, 'platform');
      answer = slots.acquire(newHolder(), scopes, TTL_MS, NOW);
      await waitUntilBlocked(1);
    });
    expect(await answer).toEqual({ kind: 'FULL', scope: 'platform' });
    expect(await slots.usage(['platform'])).toEqual({ platform: 2 });
  });

  it('adds to the count that the transaction before it left', async () => {
    const slots = createPostgresSlots({ pool });
    const scopes = scopesOf(3, 'platform');
    await acquireToken(slots, newHolder(), scopes);
    let answer: Promise<unknown> = Promise.resolve();
    await inTransaction(async (client) => {
      await addToScope(client, 'platform');
      answer = slots.acquire(newHolder(), scopes, TTL_MS, NOW);
      await waitUntilBlocked(1);
    });
    expect(await answer).toMatchObject({ kind: 'ACQUIRED' });
    expect(await slots.usage(['platform'])).toEqual({ platform: 3 });
  });

  it('locks scopes in the order of their names, whatever order they are asked in', async () => {
    const slots = createPostgresSlots({ pool });
    await acquireToken(slots, newHolder(), scopesOf(9, 'a', 'z'));
    let answer: Promise<unknown> = Promise.resolve();
    await inTransaction(async (client) => {
      await addToScope(client, 'a');
      answer = slots.acquire(newHolder(), scopesOf(9, 'z', 'a'), TTL_MS, NOW);
      await waitUntilBlocked(1);
      await addToScope(client, 'z');
    });
    expect(await answer).toMatchObject({ kind: 'ACQUIRED' });
    expect(await slots.usage(['a', 'z'])).toEqual({ a: 3, z: 3 });
  });
});

describe('releasing slots', () => {
  it('counts down once when two releases of one lease waited for the same scope', async () => {
    const slots = createPostgresSlots({ pool });
    const scopes = scopesOf(9, 'a', 'z');
    const holder = newHolder();
    await acquireToken(slots, newHolder(), scopes);
    const token = await acquireToken(slots, holder, scopes);
    let answers: Promise<boolean>[] = [];
    await inTransaction(async (client) => {
      await client.query(`SELECT 1 FROM slot_scopes WHERE scope = 'a' FOR UPDATE`);
      answers = [slots.release(holder, token, NOW), slots.release(holder, token, NOW)];
      await waitUntilBlocked(2);
    });
    expect((await Promise.all(answers)).sort()).toEqual([false, true]);
    expect(await slots.usage(['a', 'z'])).toEqual({ a: 1, z: 1 });
  });

  it('takes no lease before it has the scopes, so that it never waits crosswise with an acquire', async () => {
    const slots = createPostgresSlots({ pool });
    const scopes = scopesOf(9, 'a');
    const holder = newHolder();
    const token = await acquireToken(slots, holder, scopes);
    let answer: Promise<boolean> = Promise.resolve(false);
    await inTransaction(async (client) => {
      await client.query(`SELECT 1 FROM slot_scopes WHERE scope = 'a' FOR UPDATE`);
      answer = slots.release(holder, token, NOW);
      await waitUntilBlocked(1);
      await client.query('SELECT 1 FROM slot_leases WHERE holder = $1 FOR UPDATE', [holder]);
    });
    expect(await answer).toBe(true);
  });
});

describe('rebuilding slots', () => {
  it('waits for an acquire in progress and counts its lease', async () => {
    const slots = createPostgresSlots({ pool });
    const scopes = scopesOf(9, 'a');
    await acquireToken(slots, newHolder(), scopes);
    let rebuilt: Promise<unknown> = Promise.resolve();
    await inTransaction(async (client) => {
      await addToScope(client, 'a');
      rebuilt = slots.rebuild([], TTL_MS, NOW);
      await waitUntilBlocked(1);
      await client.query(
        `INSERT INTO slot_leases (holder, scopes, token, expires_at, created_at) VALUES ($1, '{a}', 1000, $2, $3)`,
        [newHolder(), new Date(NOW.getTime() + TTL_MS), NOW],
      );
    });
    expect(await rebuilt).toMatchObject({ removed: 0, added: 0 });
    expect(await slots.usage(['a'])).toEqual({ a: 2 });
  });
});
