import { z } from 'zod';

import { SETTLEMENT_REASONS } from '../domain/billing/settlement';

/**
 * Every message that passes between stages. The payload holds ids and what scheduling needs: never a
 * prompt, a video, a key or a raw answer. Parsed on write and on read.
 */
const uuid = z.uuid();
/** Micro-credits as decimal text: JSON has no integers of their size. */
const micros = z.string().regex(/^\d{1,19}$/);

export const MESSAGE_PAYLOADS = {
  'asset.validation.requested': z.strictObject({ assetId: uuid }),
  'asset.status.changed': z.strictObject({ assetId: uuid, status: z.string() }),
  'generation.queued': z.strictObject({ taskId: uuid }),
  'attempt.dispatch.requested': z.strictObject({ taskId: uuid, attemptId: uuid }),
  'attempt.cancel.requested': z.strictObject({ taskId: uuid, attemptId: uuid }),
  'attempt.reconcile.requested': z.strictObject({ taskId: uuid, attemptId: uuid }),
  'provider.status.observed': z.strictObject({ providerEventId: uuid }),
  'output.fetch.requested': z.strictObject({ taskId: uuid, attemptId: uuid }),
  'media.process.requested': z.strictObject({ taskId: uuid, rawAssetId: uuid }),
  'task.status.changed': z.strictObject({
    taskId: uuid,
    version: z.int(),
    status: z.string(),
    terminal: z.boolean(),
  }),
  'billing.cost.observed': z.strictObject({ taskId: uuid, attemptId: uuid }),
  /** What `settle` decided when the generation ended and the ledger was out of reach. */
  'billing.settlement.requested': z.strictObject({
    taskId: uuid,
    attemptId: uuid.nullable(),
    settleMicros: micros,
    releaseMicros: micros,
    reason: z.enum(SETTLEMENT_REASONS),
  }),
} as const;

export type MessageType = keyof typeof MESSAGE_PAYLOADS;
export type MessagePayload<T extends MessageType> = z.infer<(typeof MESSAGE_PAYLOADS)[T]>;
export const MESSAGE_TYPES = Object.keys(MESSAGE_PAYLOADS) as MessageType[];

/** Who reads what. A consumer group is a worker; each group gets every message of its types once or more. */
export const CONSUMER_GROUPS = {
  'asset-validator': ['asset.validation.requested'],
  scheduler: ['generation.queued'],
  provider: ['attempt.dispatch.requested', 'attempt.cancel.requested'],
  reducer: ['provider.status.observed'],
  'output-fetch': ['output.fetch.requested'],
  media: ['media.process.requested'],
  notification: ['task.status.changed', 'asset.status.changed'],
  billing: ['billing.cost.observed', 'billing.settlement.requested'],
  reconciler: ['attempt.reconcile.requested'],
} as const satisfies Record<string, readonly MessageType[]>;
export type ConsumerGroup = keyof typeof CONSUMER_GROUPS;

export const groupsOf = (type: MessageType): ConsumerGroup[] =>
  (Object.entries(CONSUMER_GROUPS) as [ConsumerGroup, readonly MessageType[]][])
    .filter(([, types]) => types.includes(type))
    .map(([group]) => group);

export const envelopeSchema = z.strictObject({
  eventId: uuid,
  eventType: z.enum(MESSAGE_TYPES as [MessageType, ...MessageType[]]),
  schemaVersion: z.int(),
  aggregateId: uuid,
  aggregateVersion: z.int(),
  tenantId: uuid.nullable(),
  traceId: z.string(),
  causationId: z.string().nullable(),
  occurredAt: z.iso.datetime(),
  payload: z.record(z.string(), z.unknown()),
});
export type Envelope = z.infer<typeof envelopeSchema>;

/** Parses an envelope and its payload; throws a ZodError for anything else. */
export const parseEnvelope = (value: unknown): Envelope => {
  const envelope = envelopeSchema.parse(value);
  MESSAGE_PAYLOADS[envelope.eventType].parse(envelope.payload);
  return envelope;
};

/** The typed payload of a parsed envelope whose type is known. */
export const payloadOf = <T extends MessageType>(
  envelope: Envelope,
  type: T,
): MessagePayload<T> => {
  if (envelope.eventType !== type) {
    throw new Error(`Expected a ${type} message, got ${envelope.eventType}`);
  }
  return MESSAGE_PAYLOADS[type].parse(envelope.payload) as MessagePayload<T>;
};

/** A message as it leaves a use case, before the store gives it the transaction's facts. */
export interface OutboxMessage<T extends MessageType = MessageType> {
  readonly eventId: string;
  readonly type: T;
  readonly payload: MessagePayload<T>;
  /** Not delivered before this instant. */
  readonly availableAt: Date;
}
