import type { Pool } from 'pg';

import { MESSAGE_TYPES, parseEnvelope, type Envelope } from '../../../ports/messages';
import type {
  OpenWrite,
  OutboxRelayStore,
  UnknownMessages,
} from '../../../ports/stores/message-store';
import { createLookBounds, queues, type LookBounds } from '../bus/look-bounds';
import { poolDatabase, type Database } from '../database';
import { run, runForOne, runForOnly } from '../run-statement';

/** The outbox as the relay sees it; each operation is one statement by itself. */
export const createOutboxRelayStore = (
  pool: Pool,
  looks: LookBounds = createLookBounds(),
): OutboxRelayStore => {
  const db = poolDatabase(pool);
  return {
    claim: async (now, leaseUntil, limit) => {
      const look = looks.begin(queues.outbox, now);
      const rows = await run<OutboxRow>(db, 'claim-outbox', {
        types: MESSAGE_TYPES,
        from: look.from,
        now,
        leaseUntil,
        limit,
      });
      look.seen((rows.length < limit ? null : rows.at(-1)?.dueAt) ?? now);
      const claimed: { envelope: Envelope; availableAt: Date }[] = [];
      for (const row of rows) {
        const parsed = parseRow(row);
        if (parsed instanceof Error) await bury(db, row.id, parsed, now);
        else claimed.push({ envelope: parsed, availableAt: row.dueAt });
      }
      return claimed;
    },
    markPublished: async (eventIds, now) => {
      if (eventIds.length > 0) await run(db, 'mark-published', { eventIds, now });
    },
    markFailed: async (eventIds, error, retryAt, triesMax) => {
      if (eventIds.length === 0) return;
      await run(db, 'mark-publish-failed', { eventIds, error, retryAt, triesMax });
    },
    oldestPendingAgeMs: async (now) => {
      const { since } = await runForOnly<{ since: Date | null }>(db, 'oldest-pending-message', {
        types: MESSAGE_TYPES,
        now,
      });
      return since === null ? 0 : Math.max(0, now.getTime() - since.getTime());
    },
    longestOpenWrite: () => runForOne<OpenWrite>(db, 'find-longest-open-write', {}),
    countUnknown: () =>
      run<UnknownMessages>(db, 'count-unknown-messages', { types: MESSAGE_TYPES }),
    nextDueAt: async () => {
      const next = await runForOne<{ availableAt: Date }>(db, 'find-next-outbox-event-due', {
        types: MESSAGE_TYPES,
        from: looks.since(queues.outbox),
      });
      if (next === null) return null;
      looks.lower(queues.outbox, next.availableAt);
      return next.availableAt;
    },
  };
};

interface OutboxRow {
  readonly id: string;
  readonly type: string;
  readonly schemaVersion: number;
  readonly aggregateId: string;
  readonly aggregateVersion: number;
  readonly tenantId: string | null;
  readonly traceId: string;
  readonly causationId: string | null;
  readonly occurredAt: Date;
  readonly payload: Record<string, unknown>;
  readonly dueAt: Date;
}

/** An envelope that no version of the code can read must not hold up those behind it. */
const bury = async (db: Database, eventId: string, error: Error, now: Date): Promise<void> => {
  const parameters = { eventIds: [eventId], error: error.message, retryAt: now, triesMax: 0 };
  await run(db, 'mark-publish-failed', parameters);
};

const parseRow = (row: OutboxRow): Envelope | Error => {
  try {
    return toEnvelope(row);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
};

const toEnvelope = (row: OutboxRow): Envelope =>
  parseEnvelope({
    eventId: row.id,
    eventType: row.type,
    schemaVersion: row.schemaVersion,
    aggregateId: row.aggregateId,
    aggregateVersion: row.aggregateVersion,
    tenantId: row.tenantId,
    traceId: row.traceId,
    causationId: row.causationId,
    occurredAt: row.occurredAt.toISOString(),
    payload: row.payload,
  });
