import type { HandOver } from '../../ports/message-bus';
import { MESSAGE_PAYLOADS, type Envelope, type OutboxMessage } from '../../ports/messages';

/** What becomes of the messages that a unit of work writes. */
export interface Outgoing {
  /** Null: all of them go by relay and bus. */
  readonly handOver: Pick<HandOver, 'holdUntil'> | null;
  /** Told of every statement that wrote messages: those that are handed over after the commit, and whether others wait for the relay. */
  readonly wrote: (held: readonly Envelope[], hasOthers: boolean) => void;
}

type Aggregate = Pick<
  Envelope,
  'aggregateId' | 'aggregateVersion' | 'tenantId' | 'traceId' | 'causationId'
>;

export interface Letters {
  /** The jsonb parameter of the statements that write messages. */
  readonly rows: string;
  /** To be called when the statement has written them. */
  written(aggregate: Aggregate): void;
}

/** Messages ready to be written; throws a ZodError for a wrong payload. */
export const writeLetters = (
  outgoing: Outgoing,
  messages: readonly OutboxMessage[],
  now: Date,
): Letters => {
  const letters = messages.map((message) => ({
    message,
    heldUntil:
      message.availableAt > now ? null : (outgoing.handOver?.holdUntil(message.type, now) ?? null),
  }));
  const rows = letters.map(({ message, heldUntil }) => ({
    event_id: message.eventId,
    type: message.type,
    payload: MESSAGE_PAYLOADS[message.type].parse(message.payload),
    available_at: heldUntil ?? message.availableAt,
  }));
  return {
    rows: JSON.stringify(rows),
    written: (aggregate) => {
      if (letters.length === 0) return;
      const held = letters
        .filter(({ heldUntil }) => heldUntil !== null)
        .map(({ message }) => envelopeOf(message, aggregate, now));
      outgoing.wrote(held, held.length < letters.length);
    },
  };
};

const envelopeOf = (message: OutboxMessage, aggregate: Aggregate, now: Date): Envelope => ({
  eventId: message.eventId,
  eventType: message.type,
  schemaVersion: 1,
  aggregateId: aggregate.aggregateId,
  aggregateVersion: aggregate.aggregateVersion,
  tenantId: aggregate.tenantId,
  traceId: aggregate.traceId,
  causationId: aggregate.causationId,
  occurredAt: now.toISOString(),
  payload: { ...message.payload },
});
