import type { Pool } from 'pg';

import { groupsOf, MESSAGE_TYPES, type ConsumerGroup } from '../../../ports/messages';
import type { OpenWrite, OutboxMover, UnknownMessages } from '../../../ports/stores/message-store';
import { poolDatabase } from '../database';
import { run, runForOne, runForOnly } from '../run-statement';
import { createLookBounds, queues, type LookBounds } from './look-bounds';

/** The advisory lock that one mover holds for the length of its statement. */
const LOCK = { lockSpace: 0x6275, lockKey: 1 };

export interface PostgresOutboxMoverOptions {
  /** Opened with synchronous_commit=off: a move that is lost leaves its outbox rows pending. */
  readonly pool: Pool;
  /** Called after each move with the groups that have something new: the place to ring their bells. */
  readonly onMoved?: (groups: readonly ConsumerGroup[]) => void;
  /** Shared with others of the process that look at the outbox. */
  readonly looks?: LookBounds;
}

interface Moved {
  /** No other mover was at work. */
  readonly open: boolean;
  readonly moved: number;
  readonly lastDueAt: Date | null;
  readonly groups: ConsumerGroup[];
}

const readers = MESSAGE_TYPES.flatMap((type) => groupsOf(type).map((group) => ({ type, group })));

/**
 * Moves due outbox rows to the Postgres bus, oldest first, by row and never by a cursor. Answers 0 also while another
 * mover is at work.
 */
export const createPostgresOutboxMover = (options: PostgresOutboxMoverOptions): OutboxMover => {
  const { onMoved, looks = createLookBounds() } = options;
  const db = poolDatabase(options.pool);
  return {
    moveBatch: async (now, limit) => {
      const look = looks.begin(queues.outbox, now);
      const { open, moved, lastDueAt, groups } = await runForOnly<Moved>(
        db,
        'move-outbox-events-if-due',
        {
          ...LOCK,
          types: MESSAGE_TYPES,
          readTypes: readers.map(({ type }) => type),
          readerGroups: readers.map(({ group }) => group),
          from: look.from,
          limit,
          now,
        },
      );
      if (open) look.seen((moved < limit ? null : lastDueAt) ?? now);
      if (groups.length > 0) onMoved?.(groups);
      return moved;
    },
    lag: async (now) => {
      const [{ since }, openWrite, unknown] = await Promise.all([
        runForOnly<{ since: Date | null }>(db, 'oldest-pending-message', {
          types: MESSAGE_TYPES,
          now,
        }),
        runForOne<OpenWrite>(db, 'find-longest-open-write', {}),
        run<UnknownMessages>(db, 'count-unknown-messages', { types: MESSAGE_TYPES }),
      ]);
      const pendingMs = since === null ? 0 : Math.max(now.getTime() - since.getTime(), 0);
      return { pendingMs, openWrite, unknown };
    },
    nextDueAt: async () => {
      const [next] = await run<{ availableAt: Date }>(db, 'find-next-outbox-event-due', {
        types: MESSAGE_TYPES,
        from: looks.since(queues.outbox),
      });
      if (next === undefined) return null;
      looks.lower(queues.outbox, next.availableAt);
      return next.availableAt;
    },
  };
};
