import type { MessageBus } from './message-bus';
import type { ConsumerGroup } from './messages';

/**
 * What a bus outside the database leaves to it: messages that are not due yet, that failed, that are dead. One schedule and one
 * place of dead letters, whatever carries the first delivery.
 */
export interface WaitingMessages extends MessageBus {
  /** What the bus of first deliveries accepts no more of. */
  keep(group: ConsumerGroup, message: KeptMessage, now: Date): Promise<void>;
  /** Messages that are due and wait, for each group that has some. */
  lag(now: Date): Promise<readonly GroupLag[]>;
}

export interface KeptMessage {
  readonly eventId: string;
  readonly type: string;
  /** As it was read: this version may not know its form. */
  readonly envelope: unknown;
  /** As many as make a message dead: it is dead from now on. */
  readonly deliveries: number;
  readonly at: Date;
  readonly error: string;
}

/** How far a consumer group is behind. */
export interface GroupLag {
  readonly group: ConsumerGroup;
  /** Messages that are due and not being worked on, as far as this process can count them. */
  readonly waiting: number;
  /** Since when the oldest of them could have been delivered; in milliseconds. */
  readonly oldestMs: number;
}
