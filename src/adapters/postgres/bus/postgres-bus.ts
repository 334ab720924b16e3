import type { Pool } from 'pg';

import type { Log } from '../../../ports/log';
import type { Delivery, MessageBus } from '../../../ports/message-bus';
import {
  groupsOf,
  parseEnvelope,
  type ConsumerGroup,
  type Envelope,
} from '../../../ports/messages';
import type { GroupLag, WaitingMessages } from '../../../ports/waiting-messages';
import { poolDatabase } from '../database';
import { gather } from '../gather';
import { run, runForOne } from '../run-statement';
import { createLookBounds, queues, type LookBounds } from './look-bounds';

export interface PostgresBusOptions {
  /** Opened with synchronous_commit=off: what is lost is delivered again, and the inbox stops it. */
  readonly pool: Pool;
  /** Opened with synchronous_commit=on, for what no other bus has any more once it is kept here; `pool` when there is none. */
  readonly keepPool?: Pool;
  readonly log: Log;
  /** A message is dead after this many deliveries. */
  readonly deliveriesMax: number;
  /** Shared with others of the process that look at the same queues. */
  readonly looks?: LookBounds;
}

/** A row of bus_messages under a lease of ours. */
interface BusHandle {
  readonly id: bigint;
  readonly leaseToken: string;
}

interface LeasedRow {
  readonly id: bigint;
  readonly dueAt: Date;
  readonly exhausted: boolean;
  readonly eventId: string;
  readonly envelope: unknown;
  readonly leaseToken: string;
  readonly deliveries: number;
  readonly lastError: string | null;
}

/**
 * The bus as a table: one row per consumer group and event. A lease is an `available_at` in the future with a token
 * that the next lease replaces, so a late acknowledgement finds nothing. Acknowledging deletes.
 */
export const createPostgresBus = (options: PostgresBusOptions): WaitingMessages => {
  const { log, deliveriesMax, looks = createLookBounds() } = options;
  const db = poolDatabase(options.pool);
  const keepDb = options.keepPool === undefined ? db : poolDatabase(options.keepPool);

  const publish: MessageBus['publish'] = async (messages, now) => {
    const rows = messages.flatMap(({ envelope, availableAt }) => {
      const parsed = parseEnvelope(envelope);
      return groupsOf(parsed.eventType).map((group) => ({ group, envelope: parsed, availableAt }));
    });
    if (rows.length === 0) return;
    await run(db, 'publish-bus-messages', {
      consumerGroups: rows.map(({ group }) => group),
      eventIds: rows.map(({ envelope }) => envelope.eventId),
      types: rows.map(({ envelope }) => envelope.eventType),
      envelopes: rows.map(({ envelope }) => JSON.stringify(envelope)),
      availableAts: rows.map(({ availableAt }) => availableAt.toISOString()),
      now,
    });
  };

  const receive: MessageBus['receive'] = async (group, { max, leaseMs, now }) => {
    const leaseUntil = new Date(now.getTime() + leaseMs);
    const deliveries: Delivery[] = [];
    // Dead and unreadable messages take places of a batch: who gets less than it asked for knows that no more is there.
    for (let room = max; room > 0; room = max - deliveries.length) {
      const look = looks.begin(queues.group(group), now);
      const rows = await run<LeasedRow>(db, 'lease-bus-messages-if-due', {
        consumerGroup: group,
        deliveriesMax,
        from: look.from,
        leaseUntil,
        max: room,
        now,
      });
      look.seen((rows.length < room ? null : rows.at(-1)?.dueAt) ?? now);
      for (const row of rows.filter(({ exhausted }) => exhausted))
        warnOfDeath(group, row.eventId, row.lastError);
      deliveries.push(...(await readRows(group, rows, leaseUntil)));
      if (rows.length < room) break;
    }
    return deliveries;
  };

  const readRows = async (
    group: ConsumerGroup,
    rows: readonly LeasedRow[],
    leaseUntil: Date,
  ): Promise<Delivery[]> => {
    const deliveries: Delivery[] = [];
    for (const row of rows.filter(({ exhausted }) => !exhausted)) {
      const handle = { id: row.id, leaseToken: row.leaseToken };
      const envelope = readEnvelope(row.envelope);
      if (envelope.ok) {
        deliveries.push({ envelope: envelope.value, deliveries: row.deliveries, handle });
        continue;
      }
      // Another version of the product may have written it, and one that runs beside us may read it.
      log.error('unreadable message', { group, eventId: row.eventId, error: envelope.error });
      await giveBack(group, row.eventId, handle, leaseUntil, envelope.error);
    }
    return deliveries;
  };

  const giveBack = async (
    group: ConsumerGroup,
    eventId: string,
    handle: BusHandle,
    at: Date,
    error: string,
  ): Promise<void> => {
    const [returned] = await run<{ status: string }>(db, 'return-bus-message-if-leased', {
      ...handle,
      availableAt: at,
      deliveriesMax,
      error,
    });
    if (returned?.status === 'DEAD') warnOfDeath(group, eventId, error);
  };

  const warnOfDeath = (group: ConsumerGroup, eventId: string, error: string | null): void => {
    log.error('message is dead', { group, eventId, deliveriesMax, error });
  };

  const acknowledgeAll = gather<readonly Delivery[], null>(async (done) => {
    await run(db, 'acknowledge-bus-messages-if-leased', handlesOf(done.flat()));
    return done.map(() => null);
  });

  return {
    publish,
    receive,
    acknowledge: async (_, deliveries) => {
      if (deliveries.length > 0) await acknowledgeAll(deliveries);
    },
    extend: async (_, deliveries, leaseMs, now) => {
      if (deliveries.length === 0) return 0;
      const leaseUntil = new Date(now.getTime() + leaseMs);
      const held = { ...handlesOf(deliveries), leaseUntil };
      return (await run(db, 'extend-bus-leases-if-held', held)).length;
    },
    retryLater: (group, delivery, at, error) =>
      giveBack(group, delivery.envelope.eventId, handleOf(delivery), at, error),
    replayDead: async (group, eventId, now) => {
      const replayed = await run(db, 'replay-bus-message-if-dead', {
        consumerGroup: group,
        eventId,
        now,
      });
      return replayed.length === 1;
    },
    deliverNow: async (consumerGroup, eventId, now) => {
      const due = await run(db, 'make-bus-message-due-if-idle', { consumerGroup, eventId, now });
      return due.length === 1;
    },
    deadGroupsOf: async (eventId) =>
      (await run<{ consumerGroup: ConsumerGroup }>(db, 'list-groups-where-dead', { eventId })).map(
        ({ consumerGroup }) => consumerGroup,
      ),
    nextDueAt: async (group) => {
      const [next] = await run<{ availableAt: Date }>(db, 'find-next-bus-message-due', {
        consumerGroup: group,
        from: looks.since(queues.group(group)),
      });
      if (next === undefined) return null;
      looks.lower(queues.group(group), next.availableAt);
      return next.availableAt;
    },
    keep: async (group, message, now) => {
      const kept = await runForOne<{ status: string }>(keepDb, 'keep-bus-message-if-absent', {
        consumerGroup: group,
        eventId: message.eventId,
        type: message.type,
        envelope: JSON.stringify(message.envelope),
        deliveries: message.deliveries,
        deliveriesMax,
        availableAt: message.at,
        error: message.error,
        now,
      });
      if (kept?.status === 'DEAD') warnOfDeath(group, message.eventId, message.error);
    },
    lag: (now) => run<GroupLag>(db, 'measure-bus-lag', { now }),
  };
};

const handleOf = (delivery: Delivery): BusHandle => delivery.handle as BusHandle;

const handlesOf = (deliveries: readonly Delivery[]): { ids: bigint[]; leaseTokens: string[] } => ({
  ids: deliveries.map((delivery) => handleOf(delivery).id),
  leaseTokens: deliveries.map((delivery) => handleOf(delivery).leaseToken),
});

const readEnvelope = (
  value: unknown,
):
  | { readonly ok: true; readonly value: Envelope }
  | { readonly ok: false; readonly error: string } => {
  try {
    return { ok: true, value: parseEnvelope(value) };
  } catch (error) {
    return { ok: false, error: String(error) };
  }
};
