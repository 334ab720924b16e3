import { setTimeout as wait } from 'node:timers/promises';

import type { Clock } from '../../ports/clock';
import type { Health } from '../../ports/health';
import type { Log } from '../../ports/log';
import type { Delivery, MessageBus } from '../../ports/message-bus';
import { parseEnvelope, type ConsumerGroup, type Envelope } from '../../ports/messages';
import type { GroupLag, KeptMessage, WaitingMessages } from '../../ports/waiting-messages';
import { createClientLog } from './client-log';
import type { SafeProducer } from './clients';
import { explainFailure, isTooLarge, WrongTypeError } from './explain';
import { createGroupReader, type GroupReader } from './group-reader';
import { Lease } from './lease';
import { createLink } from './link';
import { loadClients } from './load-clients';
import { reachAny } from './reach';
import { groupNameOf, subscriptionsOf, topicOf, topicsOf } from './topics';

export interface RocketmqBusOptions {
  /** host:port of the proxies, separated by semicolons. */
  readonly endpoints: string;
  readonly prefix: string;
  readonly credentials: { readonly accessKey: string; readonly accessSecret: string } | null;
  /** Takes what is not due, failed, or died. */
  readonly waiting: WaitingMessages;
  readonly clock: Clock;
  readonly log: Log;
  /** A message is dead after this many deliveries. */
  readonly deliveriesMax: number;
  /** Messages of the group came to this process. */
  readonly onArrival: (group: ConsumerGroup) => void;
  /** Sends under way at once. */
  readonly sendsMax?: number;
}

export interface RocketmqBus extends MessageBus {
  /** Answers within 2 s. */
  health(): Promise<Health>;
  /** One line in the log where no proxy can be reached; the outbox keeps what cannot be sent. */
  checkAtStart(): Promise<void>;
  lag(now: Date): Promise<readonly GroupLag[]>;
  close(): Promise<void>;
}

const SENDS_MAX = 64;
const REQUEST_TIMEOUT_MS = 5_000;
/** A probe gives a part 3 s. */
const HEALTH_LIMIT_MS = 2_000;
/** A failure this old, with no send since, is looked into: another process may have sent what failed here. */
const QUIET_MS = 6_000;
/** NORMAL, as the protocol numbers the types of messages. */
const NORMAL = 1;

/**
 * First deliveries go through RocketMQ; what must wait, has failed or is dead stands in Postgres, so that one retry schedule and one
 * list of dead letters serve any bus. RocketMQ keeps no order here, and may repeat or lose: docs/decisions/0014.
 */
export const createRocketmqBus = (options: RocketmqBusOptions): RocketmqBus => {
  const { prefix, waiting, clock, log, deliveriesMax, onArrival } = options;
  const clients = loadClients();
  const clientOptions = {
    endpoints: options.endpoints,
    namespace: '',
    requestTimeout: REQUEST_TIMEOUT_MS,
    logger: createClientLog(log),
    ...(options.credentials === null ? {} : { sessionCredentials: options.credentials }),
  };
  const readers = new Map<ConsumerGroup, GroupReader>();
  const producer = createLink({
    what: 'sending',
    endpoints: options.endpoints,
    log,
    make: () =>
      new clients.SafeProducer({ ...clientOptions, topics: topicsOf(prefix), maxAttempts: 2 }),
    check: (client) => {
      for (const topic of topicsOf(prefix)) {
        if (!client.acceptedTypes(topic).includes(NORMAL)) {
          throw new WrongTypeError(`topic ${topic} does not take messages of the type NORMAL`);
        }
      }
    },
  });

  /** Who has nothing to send hears here whether it could, and whether what failed works again. */
  const askProducer = async (): Promise<void> => {
    const asked = (async () => {
      const client = await producer.client();
      if (producer.health.ok || producer.quietMs() < QUIET_MS) return;
      await client.reach().then(() => producer.note(null), producer.note);
    })().catch(() => undefined);
    const overdue = new AbortController();
    await Promise.race([
      asked,
      wait(HEALTH_LIMIT_MS, undefined, { signal: overdue.signal }).catch(() => undefined),
    ]);
    overdue.abort();
  };

  const readerOf = (group: ConsumerGroup): GroupReader => {
    const present = readers.get(group);
    if (present !== undefined) return present;
    const subscriptions = subscriptionsOf(prefix, group);
    const reader = createGroupReader({
      group,
      subscriptions,
      clock,
      log,
      onArrival: () => onArrival(group),
      link: createLink({
        what: `receiving for ${groupNameOf(prefix, group)}`,
        endpoints: options.endpoints,
        log,
        make: () =>
          new clients.SafeConsumer({
            ...clientOptions,
            consumerGroup: groupNameOf(prefix, group),
            subscriptions: new Map(subscriptions),
          }),
      }),
    });
    readers.set(group, reader);
    return reader;
  };

  const send = async (client: SafeProducer, envelope: Envelope): Promise<void> => {
    await client.send({
      topic: topicOf(prefix, envelope),
      tag: envelope.eventType,
      keys: [envelope.eventId],
      body: Buffer.from(JSON.stringify(envelope)),
    });
  };

  const publish: MessageBus['publish'] = async (messages, now) => {
    const parsed = messages.map(({ envelope, availableAt }) => ({
      envelope: parseEnvelope(envelope),
      availableAt,
    }));
    const later = parsed.filter(({ availableAt }) => availableAt > now);
    const due = parsed.filter(({ availableAt }) => availableAt <= now);
    if (due.length > 0) {
      const client = await producer.client();
      const refused: typeof due = [];
      try {
        await forEachAtOnce(due, options.sendsMax ?? SENDS_MAX, async (message) => {
          try {
            await send(client, message.envelope);
          } catch (error) {
            if (!isTooLarge(error)) throw error;
            refused.push(message);
          }
        });
        producer.note(null);
      } catch (error) {
        producer.note(error);
        throw error;
      }
      later.push(...refused);
    }
    if (later.length > 0) await waiting.publish(later, now);
  };

  const keep = (group: ConsumerGroup, message: KeptMessage): Promise<void> =>
    waiting.keep(group, message, clock.now());

  /** Null: this version cannot read it, or it had its deliveries. */
  const open = async (group: ConsumerGroup, lease: Lease, now: Date): Promise<Delivery | null> => {
    const { deliveries } = lease;
    const raw = readJson(lease.view.body);
    const parsed = raw.ok ? readEnvelope(raw.value) : raw;
    const exhausted = deliveries > deliveriesMax;
    if (parsed.ok && !exhausted) return { envelope: parsed.value, deliveries, handle: lease };
    const [eventId = ''] = lease.view.keys;
    const error = parsed.ok ? 'every lease ended without an answer' : parsed.error;
    log.error(parsed.ok ? 'message is dead' : 'unreadable message', { group, eventId, error });
    if (!raw.ok) {
      // Nobody of us wrote this.
      await lease.acknowledge();
      return null;
    }
    // Another version of the product may have written it, and one that runs beside us may read it.
    await keep(group, {
      eventId,
      type: lease.view.tag ?? '',
      envelope: raw.value,
      deliveries: exhausted ? deliveriesMax : deliveries,
      at: new Date(now.getTime() + Math.max(lease.msLeft(), 0)),
      error,
    });
    await lease.acknowledge();
    return null;
  };

  const receive: MessageBus['receive'] = async (group, { max, leaseMs, now }) => {
    const reader = readerOf(group);
    const deliveries = [...(await waiting.receive(group, { max, leaseMs, now }))];
    // What cannot be opened takes places of a batch: who gets less than it asked for knows that no more is here.
    for (let room = max - deliveries.length; room > 0; room = max - deliveries.length) {
      const leases = await reader.take(room, leaseMs);
      deliveries.push(...(await openAll(group, leases, now)));
      if (leases.length < room) break;
    }
    return deliveries;
  };

  const openAll = async (
    group: ConsumerGroup,
    leases: readonly Lease[],
    now: Date,
  ): Promise<Delivery[]> => {
    const opened = await Promise.all(
      leases.map((lease) =>
        open(group, lease, now).catch((error: unknown) => {
          log.warn('a message could not be set aside; its lease will end', {
            error: String(error),
          });
          return null;
        }),
      ),
    );
    return opened.filter((delivery) => delivery !== null);
  };

  const endLeases = async (group: ConsumerGroup, leases: readonly Lease[]): Promise<void> => {
    const ended = await Promise.allSettled(leases.map((lease) => lease.acknowledge()));
    const failed = ended.filter((each) => each.status === 'rejected');
    if (failed.length === 0) return;
    log.warn('acknowledgements failed; the messages will come again', {
      group,
      count: failed.length,
      error: String(failed[0]?.reason),
    });
  };

  return {
    publish,
    receive,
    acknowledge: async (group, deliveries) => {
      const { leases, others } = sort(deliveries);
      await Promise.all([endLeases(group, leases), waiting.acknowledge(group, others)]);
    },
    extend: async (group, deliveries, leaseMs, now) => {
      const { leases, others } = sort(deliveries);
      const [held, extended] = await Promise.all([
        Promise.all(leases.map((lease) => lease.extend(leaseMs).catch(() => false))),
        waiting.extend(group, others, leaseMs, now),
      ]);
      return held.filter(Boolean).length + extended;
    },
    retryLater: async (group, delivery, at, error) => {
      const { handle, envelope, deliveries } = delivery;
      if (!(handle instanceof Lease)) return waiting.retryLater(group, delivery, at, error);
      if (handle.msLeft() <= 0) return;
      const { eventId, eventType: type } = envelope;
      await keep(group, { eventId, type, envelope, deliveries, at, error });
      await endLeases(group, [handle]);
    },
    replayDead: waiting.replayDead,
    deliverNow: waiting.deliverNow,
    deadGroupsOf: waiting.deadGroupsOf,
    nextDueAt: waiting.nextDueAt,
    health: async () => {
      if (readers.size === 0 || producer.used) await askProducer();
      // A process that only reads says nothing about sending, and the other way round.
      const answers = [
        ...[...readers.values()].map((reader) => reader.health()),
        ...(readers.size === 0 || producer.used ? [producer.health] : []),
      ];
      return answers.find(({ ok }) => !ok) ?? answers[0] ?? producer.health;
    },
    checkAtStart: async () => {
      await reachAny(options.endpoints).catch((error: unknown) => {
        const tried = { endpoints: options.endpoints, what: 'connecting' };
        log.error(explainFailure(error, tried));
      });
    },
    lag: async (now) => {
      const waits = new Map((await waiting.lag(now)).map((each) => [each.group, each]));
      for (const [group, reader] of readers) {
        const before = waits.get(group);
        waits.set(group, {
          group,
          waiting: (before?.waiting ?? 0) + reader.count(),
          oldestMs: Math.max(before?.oldestMs ?? 0, reader.slowestArrivalMs()),
        });
      }
      return [...waits.values()];
    },
    close: async () => {
      await Promise.all([
        producer.close(),
        ...[...readers.values()].map((reader) => reader.close()),
      ]);
    },
  };
};

const sort = (
  deliveries: readonly Delivery[],
): { readonly leases: Lease[]; readonly others: Delivery[] } => {
  const leases: Lease[] = [];
  const others: Delivery[] = [];
  for (const delivery of deliveries) {
    if (delivery.handle instanceof Lease) leases.push(delivery.handle);
    else others.push(delivery);
  }
  return { leases, others };
};

/** Begins no more after the first failure, and ends when none is under way. */
const forEachAtOnce = async <T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  let next = 0;
  let failure: { readonly error: unknown } | null = null;
  const worker = async (): Promise<void> => {
    while (failure === null && next < items.length) {
      const item = items[next] as T;
      next += 1;
      await work(item).catch((error: unknown) => {
        failure ??= { error };
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  const ended = failure as { readonly error: unknown } | null;
  if (ended !== null) throw ended.error;
};

type Read<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string };

const readJson = (body: Buffer): Read<unknown> =>
  attempt(() => JSON.parse(body.toString()) as unknown);
const readEnvelope = (value: unknown): Read<Envelope> => attempt(() => parseEnvelope(value));

const attempt = <T>(make: () => T): Read<T> => {
  try {
    return { ok: true, value: make() };
  } catch (error) {
    return { ok: false, error: String(error) };
  }
};
