import type { ConsumerGroup, Envelope, MessageType } from './messages';

/** One delivery of a message to one consumer group, under a lease. */
export interface Delivery {
  readonly envelope: Envelope;
  /** 1 for the first delivery. */
  readonly deliveries: number;
  /** The adapter's own handle. */
  readonly handle: unknown;
}

/**
 * A doorbell that may repeat, reorder or lose: Postgres alone says what is true.
 *
 * Contract, checked by test/contract/message-bus for every adapter:
 * - `publish` hands over a batch; a message may arrive more than once, never altered. It resolves only
 *   when the bus has the batch; a rejected promise means that any part may or may not have arrived.
 * - `receive` leases up to `max` messages of a group for `leaseMs`, fewer only when no more can be had now. Until the lease ends
 *   nobody else of the group sees them; after it, a broker takes some seconds, they are delivered again with `deliveries` + 1 or
 *   more. An empty array means none is due. Messages do not show before their `availableAt`.
 * - `acknowledge` after the effect's commit ends a message for the group; one that is unknown, or whose lease passed to
 *   somebody else, is ignored. `extend` renews leases and answers how many are still ours.
 * - `retryLater` hands a message back to be seen again at `at`. After `deliveriesMax` deliveries a message is dead:
 *   kept with its last error, never delivered, until `replayDead`. `deadGroupsOf` tells for whom.
 * - `deliverNow` ends the wait of a message that `retryLater` or its `availableAt` puts off, and the death of a dead one. False: there is
 *   none, it is due anyway, or somebody has it under a lease.
 * - Messages of one aggregate are delivered in the order of publication as long as nothing fails by a bus that is one table; a broker
 *   promises no order, and may repeat although nothing failed. No consumer may depend on either.
 * - A message of any size that the outbox can hold is carried.
 */
export interface MessageBus {
  publish(messages: readonly { envelope: Envelope; availableAt: Date }[], now: Date): Promise<void>;
  receive(
    group: ConsumerGroup,
    options: { readonly max: number; readonly leaseMs: number; readonly now: Date },
  ): Promise<Delivery[]>;
  acknowledge(group: ConsumerGroup, deliveries: readonly Delivery[]): Promise<void>;
  extend(
    group: ConsumerGroup,
    deliveries: readonly Delivery[],
    leaseMs: number,
    now: Date,
  ): Promise<number>;
  retryLater(group: ConsumerGroup, delivery: Delivery, at: Date, error: string): Promise<void>;
  replayDead(group: ConsumerGroup, eventId: string, now: Date): Promise<boolean>;
  deliverNow(group: ConsumerGroup, eventId: string, now: Date): Promise<boolean>;
  /** Groups for which the message is dead. */
  deadGroupsOf(eventId: string): Promise<ConsumerGroup[]>;
  /** Earliest instant at which a message of the group becomes due; null when none waits. */
  nextDueAt(group: ConsumerGroup): Promise<Date | null>;
}

/**
 * The short way of a message to a consumer of the same process: past relay and bus, never past the outbox. Its row is written as
 * ever, only due a lease later; the consumer gets it after the commit, and its acknowledgement marks the row. When the process
 * dies in between, the row becomes due and takes the long way.
 */
export interface HandOver {
  /** Until when a message that is due now is kept from the relay; null when nobody here has room for it. */
  holdUntil(type: MessageType, now: Date): Date | null;
  /** After the commit that wrote it. */
  deliver(envelope: Envelope): void;
  /** Answers how to stop taking. */
  attach(group: ConsumerGroup, taker: Taker): () => void;
}

export interface Taker {
  hasRoom(): boolean;
  take(delivery: Delivery): void;
}

/**
 * Wakes sleeping loops. Rings after a commit, on a connection of its own, on the leading edge, and at most once per
 * interval under a burst. May be lost: every loop also polls slowly.
 */
export interface Bell {
  ring(channel: string): void;
  /** Calls `wake` for each ring of `channel` by any process; answers a function that ends it. */
  listen(channel: string, wake: () => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}
