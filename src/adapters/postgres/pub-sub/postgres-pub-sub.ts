import type { Log } from '../../../ports/log';
import type { PubSub } from '../../../ports/pub-sub';
import { createListenConnection, type ListenTimings } from '../notify/listen-connection';
import { createNotifyConnection } from '../notify/notify-connection';

const CHANNEL = 'pub_sub';
const PAYLOAD_BYTES_MAX = 4_096;
const TOPIC_BYTES_MAX = 512;

type Payload = Readonly<Record<string, unknown>>;

interface Subscriber {
  readonly listener: (payload: Payload) => void;
  readonly onReconnect: () => void;
}

export interface PostgresPubSubOptions {
  readonly connectionString: string;
  readonly log: Log;
  readonly timings?: Partial<ListenTimings>;
}

/**
 * Publish and subscribe over one NOTIFY channel: each process listens once, with the first subscriber, and gives each
 * message to the subscribers of its topic. Equal messages published at the same moment may arrive as one. `publish` rejects with a RangeError when the payload or the topic is too
 * large, and with the connection's error when the message may be lost.
 */
export const createPostgresPubSub = (options: PostgresPubSubOptions): PubSub => {
  const { connectionString, log } = options;
  const topics = new Map<string, Set<Subscriber>>();

  const publishing = createNotifyConnection({
    connectionString,
    applicationName: 'pub-sub-publish',
  });
  const listening = createListenConnection({
    connectionString,
    applicationName: 'pub-sub-listen',
    log,
    ...(options.timings === undefined ? {} : { timings: options.timings }),
    onNotification: (_, text) => guard(CHANNEL, () => deliver(text)),
    onReconnect: () => {
      for (const [topic, subscribers] of topics) {
        for (const { onReconnect } of [...subscribers]) guard(topic, onReconnect);
      }
    },
  });

  const guard = (topic: string, call: () => void): void => {
    try {
      call();
    } catch (error) {
      log.error('a subscriber failed', { topic, error: String(error) });
    }
  };

  const deliver = (text: string): void => {
    const topic = text.slice(0, text.indexOf('\n'));
    const subscribers = topics.get(topic);
    if (subscribers === undefined) return;
    const payload = JSON.parse(text.slice(topic.length + 1)) as Payload;
    for (const { listener } of [...subscribers]) guard(topic, () => listener(payload));
  };

  const publish = async (topic: string, payload: Payload): Promise<void> => {
    assertTopic(topic);
    const text = JSON.stringify(payload);
    if (Buffer.byteLength(text) > PAYLOAD_BYTES_MAX) {
      throw new RangeError(`A payload has at most ${String(PAYLOAD_BYTES_MAX)} bytes of JSON.`);
    }
    await publishing.send(CHANNEL, `${topic}\n${text}`);
  };

  const subscribe: PubSub['subscribe'] = async (topic, listener, onReconnect) => {
    assertTopic(topic);
    const subscriber = { listener, onReconnect };
    topics.set(topic, (topics.get(topic) ?? new Set()).add(subscriber));
    await listening.add(CHANNEL);
    return async () => {
      const subscribers = topics.get(topic);
      if (subscribers === undefined || !subscribers.delete(subscriber)) return;
      if (subscribers.size === 0) topics.delete(topic);
      if (topics.size === 0) await listening.remove(CHANNEL);
    };
  };

  const close = async (): Promise<void> => {
    topics.clear();
    await Promise.all([publishing.close(), listening.close()]);
  };

  return { publish, subscribe, close };
};

const assertTopic = (topic: string): void => {
  if (topic === '' || topic.includes('\n') || Buffer.byteLength(topic) > TOPIC_BYTES_MAX) {
    throw new RangeError(`A topic is one line of 1 to ${String(TOPIC_BYTES_MAX)} bytes.`);
  }
};
