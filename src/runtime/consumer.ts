import { backoffMs } from '../domain/scheduling/retry-budget';
import type { Consumer } from '../flow/consume';
import type { Clock } from '../ports/clock';
import type { Log } from '../ports/log';
import type { Delivery, MessageBus } from '../ports/message-bus';
import type { ConsumerGroup, MessageType } from '../ports/messages';
import { startLoop, type RunningLoop } from './loop';

export interface ConsumerOptions {
  readonly group: ConsumerGroup;
  readonly handlers: Partial<Record<MessageType, Consumer>>;
  readonly bus: MessageBus;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly listen: (wake: () => void) => Promise<() => Promise<void>>;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly slowPollMs: number;
  /** How long a stop waits for work in hand before it aborts it; the rest comes back by its lease. */
  readonly drainMs: number;
}

/**
 * Receives a group's messages and runs their use cases: several at once, those of one aggregate one after the other. Leases
 * are renewed while work runs; an acknowledgement follows the commit; a failure hands the message back with backoff.
 */
export const startConsumer = (options: ConsumerOptions): RunningLoop => {
  const work = createWorkInHand(options);
  let wakeLoop: () => void = () => undefined;
  const loop = startLoop({
    name: options.group,
    slowPollMs: options.slowPollMs,
    now: () => options.clock.now(),
    log: options.log,
    listen: (wake) => {
      wakeLoop = wake;
      work.onRoom(wake);
      return options.listen(wake);
    },
    round: async () => {
      const room = options.concurrency - work.count();
      if (room <= 0) return { busy: false, dueAt: null };
      const deliveries = await options.bus.receive(options.group, {
        max: room,
        leaseMs: options.leaseMs,
        now: options.clock.now(),
      });
      for (const delivery of deliveries) work.take(delivery);
      if (deliveries.length === room) return { busy: true, dueAt: null };
      return { busy: deliveries.length > 0, dueAt: await dueAt(options, deliveries.length) };
    },
  });
  const heartbeat = setInterval(() => void work.renew(), Math.max(options.leaseMs / 3, 50));
  return {
    stop: async () => {
      wakeLoop();
      await loop.stop();
      await work.drain();
      clearInterval(heartbeat);
    },
  };
};

const dueAt = (options: ConsumerOptions, received: number): Promise<Date | null> =>
  received > 0 ? Promise.resolve(null) : options.bus.nextDueAt(options.group);

/** Deliveries being worked on, and those done but not acknowledged yet. */
const createWorkInHand = (options: ConsumerOptions) => {
  const inHand = new Set<Delivery>();
  const lastOfAggregate = new Map<string, Promise<void>>();
  const abort = new AbortController();
  let done: Delivery[] = [];
  let flushing: Promise<void> | null = null;
  let room: () => void = () => undefined;

  /** Acknowledgements of one moment leave together: one statement, one commit. */
  const flush = (): Promise<void> => {
    flushing ??= new Promise((resolve) => {
      setImmediate(() => {
        const batch = done;
        done = [];
        flushing = null;
        options.bus
          .acknowledge(options.group, batch)
          .catch((error: unknown) => {
            // Not acknowledged: it comes again and the inbox stops it.
            options.log.warn('acknowledgement failed', {
              group: options.group,
              error: String(error),
            });
          })
          .finally(resolve);
      });
    });
    return flushing;
  };

  const handle = async (delivery: Delivery): Promise<void> => {
    const { envelope } = delivery;
    const handler = options.handlers[envelope.eventType];
    if (handler === undefined)
      throw new Error(`Group ${options.group} has no use case for ${envelope.eventType}`);
    const consumed = await handler(envelope, abort.signal);
    if (consumed.kind === 'RETRY') {
      await options.bus.retryLater(options.group, delivery, consumed.at, consumed.reason);
      return;
    }
    done.push(delivery);
    await flush();
  };

  const handBack = async (delivery: Delivery, error: unknown): Promise<void> => {
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
    await options.bus.retryLater(options.group, delivery, at, String(error));
  };

  const take = (delivery: Delivery): void => {
    inHand.add(delivery);
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
        if (lastOfAggregate.get(aggregate) === mine) lastOfAggregate.delete(aggregate);
        room();
      });
    lastOfAggregate.set(aggregate, mine);
  };

  return {
    take,
    count: (): number => inHand.size,
    onRoom: (wake: () => void): void => {
      // Only a full hand waits for room; else each end of work would cost a look at an empty bus.
      room = () => {
        if (inHand.size === options.concurrency - 1) wake();
      };
    },
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
      await flush();
    },
  };
};
