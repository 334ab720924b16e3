import { MESSAGE_PAYLOADS, type OutboxMessage } from '../../ports/messages';

/** Messages as the jsonb parameter of the statements that write them; throws a ZodError for a wrong payload. */
export const toOutboxRows = (messages: readonly OutboxMessage[]): string =>
  JSON.stringify(
    messages.map((message) => ({
      event_id: message.eventId,
      type: message.type,
      payload: MESSAGE_PAYLOADS[message.type].parse(message.payload),
      available_at: message.availableAt,
    })),
  );

/** Told of every statement that wrote messages; rings the bell once they are committed. */
export type NoteMessages = () => void;
