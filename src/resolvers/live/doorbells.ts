import type { Log } from '../../ports/log';
import type { PubSub } from '../../ports/pub-sub';

type Payload = Readonly<Record<string, unknown>>;

interface Doorbell {
  readonly listeners: Set<(payload: Payload | null) => void>;
  /** Settles when the subscription stands, or could not be made. */
  readonly opened: Promise<(() => Promise<void>) | null>;
}

/**
 * One subscription to a topic, however many listen here; it ends with the last of them. A listener is called with null when
 * messages may have been missed, and once when the topic is listened to: only what is read after that misses nothing.
 */
export interface Doorbells {
  listen(topic: string, onRing: (payload: Payload | null) => void): () => void;
  /** Topics listened to. */
  readonly size: number;
}

export const createDoorbells = (pubSub: PubSub, log: Log): Doorbells => {
  const bells = new Map<string, Doorbell>();

  const open = (topic: string): Doorbell => {
    const listeners = new Set<(payload: Payload | null) => void>();
    const ring = (payload: Payload | null): void => {
      for (const listener of [...listeners]) listener(payload);
    };
    const opened = pubSub
      .subscribe(topic, ring, () => ring(null))
      .then((end) => {
        // What changed before the topic was listened to rang for nobody.
        ring(null);
        return end;
      })
      .catch((error: unknown) => {
        // The slow look at Postgres goes on without a bell.
        log.warn('cannot listen for changes', { topic, error: String(error) });
        return null;
      });
    return { listeners, opened };
  };

  const close = async (topic: string, bell: Doorbell): Promise<void> => {
    const end = await bell.opened;
    try {
      await end?.();
    } catch (error) {
      log.warn('cannot stop listening for changes', { topic, error: String(error) });
    }
  };

  return {
    get size() {
      return bells.size;
    },
    listen: (topic, onRing) => {
      const bell = bells.get(topic) ?? open(topic);
      bells.set(topic, bell);
      bell.listeners.add(onRing);
      return () => {
        if (!bell.listeners.delete(onRing) || bell.listeners.size > 0) return;
        // A newcomer makes a subscription of its own; this one ends by itself.
        if (bells.get(topic) === bell) bells.delete(topic);
        void close(topic, bell);
      };
    },
  };
};
