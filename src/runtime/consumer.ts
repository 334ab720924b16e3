import { setTimeout as pause } from 'node:timers/promises';

import { backoffMs } from '../domain/scheduling/retry-budget';
import type { Consumer } from '../flow/consume';
import type { Clock } from '../ports/clock';
import { crashpoint } from '../ports/crash-points';
import type { Log } from '../ports/log';
import type { Delivery, HandOver, MessageBus } from '../ports/message-bus';
import type { ConsumerGroup, MessageType } from '../ports/messages';
import type { Metrics } from '../ports/metrics';
import { NO_TRACING, type Tracing } from '../ports/tracing';
import { startLoop, type Round, type RunningLoop } from './loop';

export interface ConsumerOptions {
  readonly group: ConsumerGroup;
  readonly handlers: Partial<Record<MessageType, Consumer>>;
  readonly bus: MessageBus;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'count' | 'observe' | 'set'>;
  readonly tracing?: Pick<Tracing, 'span'>;
  readonly listen: (wake: () => void) => Promise<() => Promise<void>>;
  /** Also takes what other workers of this process hand over past the bus. */
  readonly handOver?: Pick<HandOver, 'attach'>;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly slowPollMs: number;
  /** How long a stop waits for work in hand before it aborts it; the rest comes back by its lease. */
  readonly drainMs: number;
}

/** A hand that was full waits this long for more room before it takes the next batch. */
const ROOM_MS = 5;
/** Acknowledgements gather for up to this long, and never for more than a part of the lease: nobody waits for them. */
const ACKNOWLEDGE_MS = 100;
const GIVE_BACK_MS_FIRST = 100;

/**
 * Receives a group's messages and runs their use cases: several at once, those of one aggregate one after the other. Leases
 * are renewed while work runs; an acknowledgement follows the commit; a failure hands the message back with backoff.
 */
export const startConsumer = (options: ConsumerOptions): RunningLoop => {
  const work = createWorkInHand(options);
  let wakeLoop: () => void = () => undefined;
  let idleRound = true;
  const loop = startLoop({
    name: options.group,
    slowPollMs: options.slowPollMs,
    now: () => options.clock.now(),
    log: options.log,
    listen: (wake) => {
      wakeLoop = () => {
        idleRound = false;
        wake();
      };
      work.onRoom(wakeLoop);
      return options.listen(wakeLoop);
    },
    round: async () => {
      const asksWhenDue = idleRound;
      idleRound = true;
      return receiveOnce(options, work, asksWhenDue);
    },
  });
  const detach = options.handOver?.attach(options.group, {
    hasRoom: () => work.count() < options.concurrency,
    take: work.take,
  });
  const heartbeat = setInterval(() => void work.renew(), Math.max(options.leaseMs / 3, 50));
  return {
    stop: async () => {
      detach?.();
      wakeLoop();
      await loop.stop();
      await work.drain();
      clearInterval(heartbeat);
    },
  };
};

/**
 * One look at the bus. A batch that is not full has emptied it: the next look waits for the bell. Only a look that nobody asked for
 * also asks what becomes due by itself, so that a message costs one statement to receive and not three.
 */
const receiveOnce = async (
  options: ConsumerOptions,
  work: ReturnType<typeof createWorkInHand>,
  asksWhenDue: boolean,
): Promise<Round> => {
  const room = options.concurrency - work.count();
  if (room <= 0) return { busy: false, dueAt: work.returns.next() };
  const deliveries = await options.bus.receive(options.group, {
    max: room,
    leaseMs: options.leaseMs,
    now: options.clock.now(),
  });
  if (deliveries.length > 0) crashpoint('consume.after_lease_before_work');
  for (const delivery of deliveries) work.take(delivery);
  if (deliveries.length >= room) work.mayWaitBehind();
  if (deliveries.length === 0 && asksWhenDue) {
    const dueAt = await options.bus.nextDueAt(options.group);
    if (dueAt !== null) work.returns.add(dueAt);
  }
  return { busy: false, dueAt: work.returns.next() };
};

/** Deliveries being worked on, and those done but not acknowledged yet. */
const createWorkInHand = (options: ConsumerOptions) => {
  const inHand = new Set<Delivery>();
  const lastOfAggregate = new Map<string, Promise<void>>();
  const abort = new AbortController();
  const acknowledgements = createAcknowledgements(options);
  const room = createRoomBell(options.concurrency, () => inHand.size);
  const returns = createDueTimes(() => options.clock.now());

  const handle = async (delivery: Delivery): Promise<void> => {
    const { envelope } = delivery;
    const handler = options.handlers[envelope.eventType];
    if (handler === undefined)
      throw new Error(`Group ${options.group} has no use case for ${envelope.eventType}`);
    const begunMs = performance.now();
    const { group, metrics, tracing = NO_TRACING } = options;
    const consumed = await tracing.span(
      {
        name: `${group} ${envelope.eventType}`,
        kind: 'CONSUMER',
        traceId: envelope.traceId,
        attributes: {
          'aivedio.event_id': envelope.eventId,
          'aivedio.deliveries': delivery.deliveries,
        },
      },
      () => handler(envelope, abort.signal),
    );
    metrics.observe(
      'aivedio_message_duration_seconds',
      { group },
      (performance.now() - begunMs) / 1_000,
    );
    metrics.count('aivedio_messages_total', { group, outcome: consumed.kind });
    if (consumed.kind === 'RETRY') await giveBack(delivery, consumed.at, consumed.reason);
    else acknowledgements.add(delivery);
  };

  const giveBack = async (delivery: Delivery, at: Date, reason: string): Promise<void> => {
    returns.add(at);
    await untilTaken(() => options.bus.retryLater(options.group, delivery, at, reason));
    // The loop may be asleep for longer than that.
    room.ringNow();
  };

  /** What failed for want of a database cannot be handed back without one either: it need not wait for the end of its lease. */
  const untilTaken = async (handBackOnce: () => Promise<void>): Promise<void> => {
    for (let waitMs = GIVE_BACK_MS_FIRST; ; waitMs *= 2) {
      try {
        await handBackOnce();
        return;
      } catch (error) {
        if (waitMs > options.leaseMs / 4 || abort.signal.aborted) throw error;
        await pause(waitMs, undefined, { signal: abort.signal }).catch(() => undefined);
      }
    }
  };

  const showUse = (): void =>
    options.metrics.set(
      'aivedio_worker_utilization_ratio',
      { group: options.group },
      inHand.size / options.concurrency,
    );
  showUse();

  const handBack = async (delivery: Delivery, error: unknown): Promise<void> => {
    options.metrics.count('aivedio_messages_total', { group: options.group, outcome: 'FAILED' });
    const now = options.clock.now();
    const at = new Date(
      now.getTime() + backoffMs('notify', Math.min(delivery.deliveries, 10), options.random()),
    );
    options.log.warn('a message failed', {
      group: options.group,
      type: delivery.envelope.eventType,
      eventId: delivery.envelope.eventId,
      deliveries: delivery.deliveries,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    await giveBack(delivery, at, String(error));
  };

  const take = (delivery: Delivery): void => {
    inHand.add(delivery);
    showUse();
    const aggregate = delivery.envelope.aggregateId;
    const before = lastOfAggregate.get(aggregate) ?? Promise.resolve();
    const mine = before
      .then(() => handle(delivery))
      .catch((error: unknown) => handBack(delivery, error))
      .catch((error: unknown) => {
        options.log.warn('a message could not be handed back; its lease will end', {
          error: String(error),
        });
      })
      .finally(() => {
        inHand.delete(delivery);
        showUse();
        if (lastOfAggregate.get(aggregate) === mine) lastOfAggregate.delete(aggregate);
        room.freed();
      });
    lastOfAggregate.set(aggregate, mine);
  };

  return {
    take,
    count: (): number => inHand.size,
    onRoom: room.onRoom,
    mayWaitBehind: room.mayWaitBehind,
    /** When something in the bus becomes due by itself, as far as this process knows. */
    returns,
    renew: async (): Promise<void> => {
      if (inHand.size === 0) return;
      try {
        await options.bus.extend(options.group, [...inHand], options.leaseMs, options.clock.now());
      } catch (error) {
        options.log.warn('leases could not be renewed', {
          group: options.group,
          error: String(error),
        });
      }
    },
    drain: async (): Promise<void> => {
      const all = Promise.all([...lastOfAggregate.values()]);
      const timer = setTimeout(
        () => abort.abort(new Error('the worker is stopping')),
        options.drainMs,
      );
      await all;
      clearTimeout(timer);
      room.close();
      await acknowledgements.flush();
    },
  };
};

/** Instants at which a look is due; past ones are forgotten. */
const createDueTimes = (now: () => Date) => {
  const times = new Set<number>();
  return {
    add: (at: Date): void => void times.add(at.getTime()),
    next: (): Date | null => {
      const present = now().getTime();
      let first: number | null = null;
      for (const time of times) {
        if (time <= present) times.delete(time);
        else if (first === null || time < first) first = time;
      }
      return first === null ? null : new Date(first);
    },
  };
};

/** Acknowledgements of one moment leave together: one statement, one commit. Nobody waits for them; one that is lost repeats. */
const createAcknowledgements = (options: ConsumerOptions) => {
  let done: Delivery[] = [];
  let timer: NodeJS.Timeout | null = null;
  let sending: Promise<void> = Promise.resolve();
  const gatherMs = Math.min(ACKNOWLEDGE_MS, options.leaseMs / 10);

  const send = async (): Promise<void> => {
    const batch = done;
    done = [];
    if (batch.length === 0) return;
    crashpoint('consume.after_work_before_ack');
    try {
      await options.bus.acknowledge(options.group, batch);
    } catch (error) {
      // Not acknowledged: it comes again and the inbox stops it.
      options.log.warn('acknowledgement failed', { group: options.group, error: String(error) });
    }
  };
  const flush = (): Promise<void> => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    sending = sending.then(send);
    return sending;
  };
  return {
    add: (delivery: Delivery): void => {
      done.push(delivery);
      // On the beat, so that those of all groups of a process leave together.
      timer ??= setTimeout(
        () => void flush(),
        gatherMs - (options.clock.now().getTime() % gatherMs),
      );
    },
    flush,
  };
};

/**
 * Rings when a hand that was full, or whose last look took all it had room for, has room: at once when half of it is free, else after a moment in which more may become free, so
 * that a backlog is received in batches and a slow message keeps nobody waiting.
 */
const createRoomBell = (concurrency: number, count: () => number) => {
  let ring: () => void = () => undefined;
  let wasFull = false;
  let timer: NodeJS.Timeout | null = null;
  const ringNow = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    wasFull = false;
    ring();
  };
  return {
    onRoom: (wake: () => void): void => {
      ring = wake;
    },
    ringNow,
    /** A look took all it had room for, so there may be more. The hand may never have been full: work ended while the look ran. */
    mayWaitBehind: (): void => {
      wasFull = true;
    },
    freed: (): void => {
      // What another worker handed over fills the hand without a look.
      if (count() >= concurrency - 1) wasFull = true;
      if (!wasFull) return;
      if (count() <= concurrency / 2) ringNow();
      else timer ??= setTimeout(ringNow, ROOM_MS);
    },
    close: (): void => {
      if (timer !== null) clearTimeout(timer);
      ring = () => undefined;
    },
  };
};
