import { RedisPubSub } from 'graphql-redis-subscriptions';

import type { Log } from '../../../ports/log';
import type { PubSub } from '../../../ports/pub-sub';
import type { RedisConnection } from '../redis-connection';

const PAYLOAD_BYTES_MAX = 4_096;
const TOPIC_BYTES_MAX = 512;
/** A subscriber waits so long for the server; later the subscription begins by itself, with `onReconnect`. */
const SUBSCRIBE_WAIT_MS = 1_000;

type Payload = Readonly<Record<string, unknown>>;

interface Subscriber {
  readonly listener: (payload: Payload) => void;
  readonly onReconnect: () => void;
}

interface Topic {
  readonly subscribers: Set<Subscriber>;
  /** The one subscription of this process; its id, once Redis took it. */
  readonly subscribed: Promise<number>;
}

export interface RedisPubSubOptions {
  /** For publishing; belongs to the caller. */
  readonly connection: RedisConnection;
  /** For listening only; opened with the first subscriber, belongs to this. */
  readonly openListening: () => RedisConnection;
  readonly prefix: string;
  readonly log: Log;
}

/**
 * Publish and subscribe through graphql-redis-subscriptions: each process subscribes once to a topic and gives each message to
 * its subscribers. `publish` rejects with a RangeError when the payload or the topic is too large, and with a
 * RedisUnavailableError when the message may be lost.
 */
export const createRedisPubSub = (options: RedisPubSubOptions): PubSub => {
  const { connection, log } = options;
  const topics = new Map<string, Topic>();
  let listening: { readonly connection: RedisConnection; readonly engine: RedisPubSub } | null =
    null;
  let isClosed = false;

  const guard = (topic: string, call: () => void): void => {
    try {
      call();
    } catch (error) {
      log.error('a subscriber failed', { topic, error: String(error) });
    }
  };
  const channelOf = (topic: string): string => `${options.prefix}:${topic}`;
  const assertOpen = (): void => {
    if (isClosed) throw new Error('The pub/sub is closed');
  };

  const listen = (): RedisPubSub => {
    if (listening !== null) return listening.engine;
    const opened = options.openListening();
    const engine = new RedisPubSub({
      publisher: connection.client,
      subscriber: quietly(opened.client, log),
    });
    opened.onReconnect(() => {
      for (const [topic, { subscribers }] of topics) {
        for (const { onReconnect } of [...subscribers]) guard(topic, onReconnect);
      }
    });
    listening = { connection: opened, engine };
    return engine;
  };

  const deliver = (topic: string, subscribers: ReadonlySet<Subscriber>, message: unknown): void => {
    if (typeof message !== 'object' || message === null) {
      log.error('a message is no object', { topic });
      return;
    }
    for (const { listener } of [...subscribers]) guard(topic, () => listener(message as Payload));
  };

  const open = (topic: string): Topic => {
    const subscribers = new Set<Subscriber>();
    const subscribed = listen().subscribe(channelOf(topic), (message: unknown) =>
      deliver(topic, subscribers, message),
    );
    const opened = { subscribers, subscribed };
    subscribed.catch((error: unknown) => {
      if (isClosed) return;
      log.warn('Redis did not take a subscription', { topic, error: String(error) });
      if (topics.get(topic) === opened) topics.delete(topic);
    });
    topics.set(topic, opened);
    return opened;
  };

  const leave = async (topic: string, left: Topic): Promise<void> => {
    if (topics.get(topic) !== left) return;
    topics.delete(topic);
    // Whoever came meanwhile has a subscription of its own to the same channel, which the library keeps.
    const ended = left.subscribed.then(
      (id) => {
        if (!isClosed) listening?.engine.unsubscribe(id);
      },
      () => undefined,
    );
    await atMost(SUBSCRIBE_WAIT_MS, ended);
  };

  return {
    publish: async (topic, payload) => {
      assertOpen();
      assertTopic(topic);
      const text = JSON.stringify(payload);
      if (Buffer.byteLength(text) > PAYLOAD_BYTES_MAX) {
        throw new RangeError(`A payload has at most ${String(PAYLOAD_BYTES_MAX)} bytes of JSON.`);
      }
      await connection.call((redis) => redis.publish(channelOf(topic), text));
    },
    subscribe: async (topic, listener, onReconnect) => {
      assertOpen();
      assertTopic(topic);
      const subscriber = { listener, onReconnect };
      const joined = topics.get(topic) ?? open(topic);
      joined.subscribers.add(subscriber);
      await atMost(SUBSCRIBE_WAIT_MS, joined.subscribed);
      return async () => {
        if (!joined.subscribers.delete(subscriber)) return;
        if (joined.subscribers.size === 0) await leave(topic, joined);
      };
    },
    close: async () => {
      isClosed = true;
      topics.clear();
      await listening?.connection.close();
    },
  };
};

/** The library drops the promise of its unsubscribe; nobody would hear that it failed. */
const quietly = (client: RedisConnection['client'], log: Log): RedisConnection['client'] =>
  new Proxy(client, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const method = value.bind(target) as (...args: unknown[]) => unknown;
      // There are no patterns here, and the library ends one with each subscription.
      if (name === 'punsubscribe') return () => Promise.resolve(0);
      if (name !== 'unsubscribe') return method;
      return (...args: unknown[]) =>
        Promise.resolve(method(...args)).catch((error: unknown) =>
          log.debug('unsubscribed without a connection', { error: String(error) }),
        );
    },
  });

/** Waits for the promise, but not for ever; its failure is told elsewhere. */
const atMost = async (ms: number, promise: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    promise.catch(() => undefined),
    new Promise<void>((resolve) => (timer = setTimeout(resolve, ms))),
  ]);
  clearTimeout(timer);
};

const assertTopic = (topic: string): void => {
  if (topic === '' || topic.includes('\n') || Buffer.byteLength(topic) > TOPIC_BYTES_MAX) {
    throw new RangeError(`A topic is one line of 1 to ${String(TOPIC_BYTES_MAX)} bytes.`);
  }
};
