import { uuidv7 } from 'uuidv7';

import type { Envelope } from '../../../src/ports/messages';

export interface Message {
  readonly envelope: Envelope;
  readonly availableAt: Date;
}

/** Messages that only the group `scheduler` reads, all of one aggregate, numbered by their version from 1. */
export const makeQueuedMessages = (
  count: number,
  availableAt: Date,
  aggregateId = uuidv7(),
): Message[] =>
  Array.from({ length: count }, (_, index) => ({
    availableAt,
    envelope: {
      eventId: uuidv7(),
      eventType: 'generation.queued' as const,
      schemaVersion: 1,
      aggregateId,
      aggregateVersion: index + 1,
      tenantId: uuidv7(),
      traceId: 'trace "quoted" \\ ünïcode 影像',
      causationId: null,
      occurredAt: availableAt.toISOString(),
      payload: { taskId: aggregateId },
    },
  }));
