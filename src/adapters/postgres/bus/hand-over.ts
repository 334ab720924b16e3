import type { Pool } from 'pg';

import type { Clock } from '../../../ports/clock';
import type { Log } from '../../../ports/log';
import type { Delivery, HandOver, MessageBus, Taker } from '../../../ports/message-bus';
import { groupsOf, type ConsumerGroup } from '../../../ports/messages';
import { poolDatabase } from '../database';
import { gather } from '../gather';
import { run } from '../run-statement';

export interface HandOverOptions {
  /** Opened with synchronous_commit=off: a mark that is lost sends the message the long way, and the inbox stops it. */
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a message is kept from the relay. */
  readonly leaseMs: number;
}

/** An outbox row that this process has taken for itself. */
class HeldRow {
  constructor(readonly eventId: string) {}
}

/**
 * Hands messages to consumers of this process right after their commit. A handed-over message costs its outbox row and one shared
 * update; the relay, the bus row, its lease and its deletion fall away. `behind` is the bus that its consumers use: it acknowledges
 * both kinds of deliveries.
 */
export const createHandOver = (
  options: HandOverOptions,
): HandOver & { behind(bus: MessageBus): MessageBus } => {
  const { clock, log, leaseMs } = options;
  const db = poolDatabase(options.pool);
  const takers = new Map<ConsumerGroup, Taker>();

  const hold = (eventIds: readonly string[], until: Date): Promise<unknown[]> =>
    run(db, 'hold-outbox-events-if-pending', { eventIds, until });

  const markPublished = gather<readonly string[], null>(async (done) => {
    await run(db, 'mark-published', { eventIds: done.flat(), now: clock.now() });
    return done.map(() => null);
  });

  /** The only group that reads it; a message of several readers has to be on the bus. */
  const takerOf = (type: Parameters<HandOver['holdUntil']>[0]): Taker | null => {
    const [group, ...others] = groupsOf(type);
    return group === undefined || others.length > 0 ? null : (takers.get(group) ?? null);
  };

  return {
    holdUntil: (type, now) =>
      takerOf(type)?.hasRoom() === true ? new Date(now.getTime() + leaseMs) : null,
    deliver: (envelope) => {
      const taker = takerOf(envelope.eventType);
      if (taker !== null) {
        taker.take({ envelope, deliveries: 1, handle: new HeldRow(envelope.eventId) });
        return;
      }
      // Its consumer has stopped meanwhile. If this fails too, the row becomes due with the lease.
      hold([envelope.eventId], clock.now()).catch((error: unknown) => {
        log.warn('a message waits for its lease to end', { error: String(error) });
      });
    },
    attach: (group, taker) => {
      takers.set(group, taker);
      return () => {
        if (takers.get(group) === taker) takers.delete(group);
      };
    },
    behind: (bus) => ({
      ...bus,
      acknowledge: async (group, deliveries) => {
        const { held, fromBus } = sort(deliveries);
        await Promise.all([
          bus.acknowledge(group, fromBus),
          ...(held.length === 0 ? [] : [markPublished(held)]),
        ]);
      },
      extend: async (group, deliveries, extendMs, now) => {
        const { held, fromBus } = sort(deliveries);
        const until = new Date(now.getTime() + extendMs);
        const [rows, extended] = await Promise.all([
          held.length === 0 ? [] : hold(held, until),
          bus.extend(group, fromBus, extendMs, now),
        ]);
        return rows.length + extended;
      },
      retryLater: async (group, delivery, at, error) => {
        if (!(delivery.handle instanceof HeldRow)) {
          return bus.retryLater(group, delivery, at, error);
        }
        await hold([delivery.handle.eventId], at);
      },
    }),
  };
};

const sort = (
  deliveries: readonly Delivery[],
): { readonly held: string[]; readonly fromBus: Delivery[] } => {
  const held: string[] = [];
  const fromBus: Delivery[] = [];
  for (const delivery of deliveries) {
    if (delivery.handle instanceof HeldRow) held.push(delivery.handle.eventId);
    else fromBus.push(delivery);
  }
  return { held, fromBus };
};
