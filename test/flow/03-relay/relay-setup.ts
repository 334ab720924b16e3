import type { Pool } from 'pg';
import { uuidv7 } from 'uuidv7';

import { createPostgresBus } from '../../../src/adapters/postgres/bus/postgres-bus';
import { createUnitOfWork } from '../../../src/adapters/postgres/unit-of-work';
import type { Delivery, MessageBus } from '../../../src/ports/message-bus';
import type { OutboxMessage } from '../../../src/ports/messages';
import type { Stores, UnitOfWork } from '../../../src/ports/unit-of-work';
import { openRebuildablePool } from '../../contract/open-rebuildable-pool';
import { createRecordingLog } from '../../contract/recording-log';
import { createTestDatabase, type TestDatabase } from '../../support/database';

export const NOW = new Date('2026-12-01T08:00:00.000Z');
export const after = (ms: number): Date => new Date(NOW.getTime() + ms);

export interface RelaySetup {
  readonly database: TestDatabase;
  readonly pool: Pool;
  readonly uow: UnitOfWork;
  readonly bus: MessageBus;
  /** Writes messages of one aggregate in a transaction of their own; answers their event ids. */
  add(count: number, availableAt?: Date): Promise<string[]>;
  receive(max?: number, now?: Date): Promise<Delivery[]>;
  /** Status of each outbox row, by event id. */
  statuses(): Promise<Record<string, string>>;
  empty(): Promise<void>;
  close(): Promise<void>;
}

export const addMessages = async (
  tx: Stores,
  count: number,
  availableAt = NOW,
): Promise<string[]> => {
  const id = uuidv7();
  const messages: OutboxMessage[] = Array.from({ length: count }, () => ({
    eventId: uuidv7(),
    type: 'generation.queued',
    payload: { taskId: id },
    availableAt,
  }));
  await tx.outbox.add(
    {
      type: 'generation',
      id,
      version: 1,
      tenantId: uuidv7(),
      traceId: 'trace-1',
      causationId: null,
    },
    messages,
    NOW,
  );
  return messages.map(({ eventId }) => eventId);
};

export const openRelaySetup = async (): Promise<RelaySetup> => {
  const database = await createTestDatabase();
  const pool = openRebuildablePool(database.url);
  const uow = createUnitOfWork({
    pool,
    bell: { ring: () => undefined },
    log: createRecordingLog(),
  });
  const bus = createPostgresBus({ pool, log: createRecordingLog(), deliveriesMax: 5 });
  return {
    database,
    pool,
    uow,
    bus,
    add: (count, availableAt) => uow.transact((tx) => addMessages(tx, count, availableAt)),
    receive: (max = 100, now = NOW) => bus.receive('scheduler', { max, leaseMs: 30_000, now }),
    statuses: async () => {
      const { rows } = await database.pool.query<{ id: string; status: string }>(
        'SELECT id, status FROM outbox_events',
      );
      return Object.fromEntries(rows.map(({ id, status }) => [id, status]));
    },
    empty: async () => {
      await database.pool.query('TRUNCATE outbox_events, bus_messages, inbox_dedup');
    },
    close: async () => {
      await pool.end();
      await database.drop();
    },
  };
};

export const eventIdsOf = (deliveries: readonly Delivery[]): string[] =>
  deliveries.map(({ envelope }) => envelope.eventId);
