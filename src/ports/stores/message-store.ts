import type { ConsumerGroup, Envelope, MessageType, OutboxMessage } from '../messages';

export interface OutboxStore {
  /** Adds messages that belong to no task transition (those leave with `TaskStore.move`). */
  add(
    aggregate: {
      readonly type: 'asset' | 'generation' | 'attempt' | 'provider_event';
      readonly id: string;
      readonly version: number;
      readonly tenantId: string | null;
      readonly traceId: string;
      readonly causationId: string | null;
    },
    messages: readonly OutboxMessage[],
    now: Date,
  ): Promise<void>;
  /**
   * Publishes the latest message of a type again, under its own id, when the group has not handled it: a message that
   * waits on the bus is not doubled, one that was lost comes back. Answers its id; null: there is none, and a new one must
   * be written.
   * @param options.dueNow also where it has not left yet, and would wait for its time
   */
  publishAgain(
    aggregateIds: readonly string[],
    type: MessageType,
    group: ConsumerGroup,
    now: Date,
    options?: { readonly dueNow: boolean },
  ): Promise<string | null>;
  /**
   * Publishes all that has left since an instant and that a group has not handled again, under its own id; answers how many. A bus
   * outside the database counts some of it as handled by work that a restored database knows nothing of.
   */
  publishUnhandledAgain(since: Date, now: Date): Promise<number>;
  lock(eventId: string): Promise<OutboxEvent | null>;
  /** Gives a dead event, under its own id, its tries back. False: it is not dead. */
  revive(eventId: string, now: Date): Promise<boolean>;
}

export interface OutboxEvent {
  readonly id: string;
  readonly type: string;
  readonly status: 'PENDING' | 'PUBLISHED' | 'DEAD';
  readonly aggregateId: string;
  readonly tenantId: string | null;
  readonly publishAttempts: number;
  readonly lastError: string | null;
}

export interface InboxStore {
  /** First thing in a consumer's transaction. False: this group handled the event before; change nothing. */
  enter(group: ConsumerGroup, eventId: string, now: Date): Promise<boolean>;
  /** Groups that have handled the event. */
  groupsThatHandled(eventId: string): Promise<ConsumerGroup[]>;
}

/** A transaction that has written and is still open: what it wrote for the outbox nobody can see. */
export interface OpenWrite {
  readonly name: string;
  readonly openMs: number;
}

/** Pending messages of a type that this version does not know; they are left to the version that does. */
export interface UnknownMessages {
  readonly type: string;
  readonly count: number;
}

/** The outbox as the relay sees it: messages of types that this version knows, and nothing else. */
export interface OutboxRelayStore {
  /** Leases pending rows that are due, by row and never by a cursor, oldest first. */
  claim(
    now: Date,
    leaseUntil: Date,
    limit: number,
  ): Promise<{ envelope: Envelope; availableAt: Date }[]>;
  markPublished(eventIds: readonly string[], now: Date): Promise<void>;
  markFailed(
    eventIds: readonly string[],
    error: string,
    retryAt: Date,
    triesMax: number,
  ): Promise<void>;
  /** Age of the oldest pending due row in milliseconds; 0 when none. */
  oldestPendingAgeMs(now: Date): Promise<number>;
  longestOpenWrite(): Promise<OpenWrite | null>;
  countUnknown(): Promise<UnknownMessages[]>;
  nextDueAt(): Promise<Date | null>;
}

/** Moves due outbox rows to the bus; answers how many. Implemented in one statement where both are one database. */
export interface OutboxMover {
  moveBatch(now: Date, limit: number): Promise<number>;
  /** How far the outbox is behind: the oldest message that is due, and the oldest open transaction that has written. */
  lag(now: Date): Promise<{
    readonly pendingMs: number;
    readonly openWrite: OpenWrite | null;
    /** By type; no part of the lag. */
    readonly unknown: readonly UnknownMessages[];
  }>;
  nextDueAt(): Promise<Date | null>;
}
