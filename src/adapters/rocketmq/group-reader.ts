import { setTimeout as wait } from 'node:timers/promises';

import type { MessageView } from 'rocketmq-client-nodejs';

import type { Clock } from '../../ports/clock';
import type { Log } from '../../ports/log';
import type { ConsumerGroup } from '../../ports/messages';
import type { SafeConsumer } from './clients';
import { Lease } from './lease';
import type { Link } from './link';

export interface GroupReaderOptions {
  readonly group: ConsumerGroup;
  /** Topic and tags. */
  readonly subscriptions: ReadonlyMap<string, string>;
  readonly link: Link<SafeConsumer>;
  readonly clock: Clock;
  readonly log: Log;
  /** Messages have come. */
  readonly onArrival: () => void;
}

/** Shorter than the proxy's limit of 20 s, and at least its minimum. */
const POLL_MS = 5_000;
/** The proxy gives no more at once. */
const BATCH_MAX = 32;
const ROOM_LOOK_MS = 1_000;
const PAUSE_MS_FIRST = 200;
const PAUSE_MS_MAX = 5_000;
const ARRIVAL_MEMORY_MS = 60_000;

export type GroupReader = ReturnType<typeof createGroupReader>;

/**
 * Long polls in the background into a buffer of what the consumer last asked for, so that asking never waits. What nobody
 * takes, or the process still has at its end, goes back.
 */
export const createGroupReader = (options: GroupReaderOptions) => {
  const { group, subscriptions, link, clock, log, onArrival } = options;
  let buffer: Lease[] = [];
  let wanted = 1;
  let leaseMs = 15_000;
  let closed = false;
  let slowest = { ms: 0, at: -Infinity };
  const roomWaiters = new Set<() => void>();
  const stop = new AbortController();

  const room = (): number => Math.min(wanted - buffer.length, BATCH_MAX);

  const untilRoom = async (): Promise<void> => {
    while (!closed && room() <= 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ROOM_LOOK_MS);
        roomWaiters.add(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  };

  const announceRoom = (): void => {
    for (const wake of roomWaiters) wake();
    roomWaiters.clear();
  };

  const poll = async (topic: string, tags: string): Promise<void> => {
    const consumer = await link.client();
    const max = room();
    if (max <= 0) return;
    // Each topic may fill the room alone: one that is idle must not keep the other waiting.
    const invisibleMs = leaseMs;
    const views = await consumer.receiveFrom(topic, tags, { max, invisibleMs, waitMs: POLL_MS });
    link.note(null);
    if (views.length === 0) return;
    noteArrival(views);
    const leases = views.map((view) => new Lease(consumer, view, performance.now() + invisibleMs));
    buffer.push(...leases);
    if (closed) await giveBack();
    else onArrival();
  };

  const noteArrival = (views: readonly MessageView[]): void => {
    const now = clock.now().getTime();
    const ages = views.map((view) =>
      (view.deliveryAttempt ?? 1) > 1 ? 0 : now - (view.bornTimestamp?.getTime() ?? now),
    );
    const ms = Math.max(0, ...ages);
    const at = performance.now();
    if (ms >= slowest.ms || at - slowest.at > ARRIVAL_MEMORY_MS) slowest = { ms, at };
  };

  const loop = async (topic: string, tags: string): Promise<void> => {
    let failures = 0;
    while (!closed) {
      await untilRoom();
      try {
        if (!closed) await poll(topic, tags);
        failures = 0;
      } catch (error) {
        failures += 1;
        if (!closed) link.note(error);
        const pauseMs = Math.min(PAUSE_MS_FIRST * 2 ** failures, PAUSE_MS_MAX);
        await wait(pauseMs, undefined, { signal: stop.signal }).catch(() => undefined);
      }
    }
  };

  const giveBack = async (): Promise<void> => {
    const held = buffer;
    buffer = [];
    await Promise.all(held.map((lease) => lease.giveBack().catch(() => undefined)));
  };

  /** Who does not come for them has no room: others may have them, and no more are asked for until somebody comes. */
  const letGo = async (): Promise<void> => {
    const stale = buffer.filter((lease) => lease.msLeft() < leaseMs / 2);
    if (stale.length === 0) return;
    wanted = 0;
    buffer = buffer.filter((lease) => !stale.includes(lease));
    log.debug('messages that nobody took go back', { group, count: stale.length });
    await Promise.all(stale.map((lease) => lease.giveBack().catch(() => undefined)));
  };
  const heartbeat = setInterval(() => void letGo(), 1_000);

  const loops = [...subscriptions].map(([topic, tags]) => loop(topic, tags));

  return {
    /** What is here, up to `max`, with at least half of its lease left; fewer only when no more is here. */
    take: async (max: number, forMs: number): Promise<Lease[]> => {
      wanted = Math.max(1, max);
      leaseMs = forMs;
      const usable: Lease[] = [];
      while (usable.length < max && buffer.length > 0) {
        const taken = buffer.splice(0, max - usable.length);
        const held = await Promise.all(
          taken.map(async (lease) => {
            if (lease.msLeft() > forMs / 2) return lease;
            return (await lease.extend(forMs).catch(() => false)) ? lease : null;
          }),
        );
        usable.push(...held.filter((lease) => lease !== null));
      }
      announceRoom();
      return usable;
    },
    count: (): number => buffer.length,
    /** The longest that a message of the last minute was under way before it was received here. */
    slowestArrivalMs: (): number =>
      performance.now() - slowest.at > ARRIVAL_MEMORY_MS ? 0 : slowest.ms,
    health: () => link.health,
    close: async (): Promise<void> => {
      closed = true;
      stop.abort();
      clearInterval(heartbeat);
      announceRoom();
      await giveBack();
      // A poll that is under way still brings messages; they go back, too.
      await Promise.all(loops);
      await link.close();
    },
  };
};
