import { groupsOf, MESSAGE_TYPES, type ConsumerGroup } from '../../../ports/messages';
import type { InboxStore, OutboxEvent, OutboxStore } from '../../../ports/stores/message-store';
import type { Database } from '../database';
import { writeLetters, type Outgoing } from '../outbox-rows';
import { run, runForOne } from '../run-statement';

export const createOutboxStore = (db: Database, outgoing: Outgoing): OutboxStore => ({
  add: async (aggregate, messages, now) => {
    if (messages.length === 0) return;
    const letters = writeLetters(outgoing, messages, now);
    await run(db, 'insert-messages', {
      aggregateType: aggregate.type,
      aggregateId: aggregate.id,
      aggregateVersion: aggregate.version,
      tenantId: aggregate.tenantId,
      traceId: aggregate.traceId,
      causationId: aggregate.causationId,
      messages: letters.rows,
      now,
    });
    letters.written({
      aggregateId: aggregate.id,
      aggregateVersion: aggregate.version,
      tenantId: aggregate.tenantId,
      traceId: aggregate.traceId,
      causationId: aggregate.causationId,
    });
  },
  publishAgain: async (aggregateIds, type, consumerGroup, now, options) => {
    const [row] = await run<{ id: string }>(db, 'publish-again-if-unhandled', {
      aggregateIds,
      type,
      consumerGroup,
      dueNow: options?.dueNow ?? false,
      now,
    });
    if (row !== undefined) outgoing.wrote([], true);
    return row?.id ?? null;
  },
  publishUnhandledAgain: async (since, now) => {
    const reads = MESSAGE_TYPES.flatMap((type) => groupsOf(type).map((group) => ({ type, group })));
    const rows = await run(db, 'publish-unhandled-again', {
      since,
      now,
      types: reads.map(({ type }) => type),
      groups: reads.map(({ group }) => group),
    });
    if (rows.length > 0) outgoing.wrote([], true);
    return rows.length;
  },
  lock: (eventId) => runForOne<OutboxEvent>(db, 'lock-outbox-event', { eventId }),
  revive: async (eventId, now) => {
    const rows = await run(db, 'revive-outbox-event-if-dead', { eventId, now });
    if (rows.length > 0) outgoing.wrote([], true);
    return rows.length > 0;
  },
});

export const createInboxStore = (db: Database): InboxStore => ({
  enter: async (consumerGroup, eventId, now) =>
    (await run(db, 'enter-inbox', { consumerGroup, eventId, now })).length > 0,
  groupsThatHandled: async (eventId) =>
    (await run<{ consumerGroup: ConsumerGroup }>(db, 'list-groups-that-handled', { eventId })).map(
      ({ consumerGroup }) => consumerGroup,
    ),
});
