import type { Delivery, MessageBus } from '../../../src/ports/message-bus';
import type { ConsumerGroup } from '../../../src/ports/messages';
import { eventually } from '../../support/eventually';
import type { Message } from './make-messages';

/** What the suite needs of an adapter: a bus that nobody else uses, and a clock that can be moved. */
export interface BusHarness {
  /** One more instance on the same bus, as another process would have it. */
  open(): Promise<MessageBus>;
  now(): Date;
  /** Lets time pass: a bus that takes `now` as a parameter loses none, others really wait. */
  pass(ms: number): Promise<void>;
  readonly deliveriesMax: number;
  /** A lease that outlives a few calls. */
  readonly leaseMs: number;
  /** A delay well above the adapter's resolution. */
  readonly delayMs: number;
  /** Of the messages of one aggregate, as long as nothing fails. */
  readonly keepsOrder: boolean;
  /** May bring a message twice although nothing failed. */
  readonly mayRepeat: boolean;
  /** A message that could come would have come after this. */
  readonly settleMs: number;
  dispose(): Promise<void>;
}

/** A broker looks through ended leases only now and then. */
const REDELIVERY_MS_MAX = 30_000;

export const GROUP: ConsumerGroup = 'scheduler';

/** Calls on a bus at the harness's present instant. */
export const onBus = (harness: BusHarness, bus: MessageBus) => ({
  bus,
  publish: (messages: readonly Message[]) => bus.publish(messages, harness.now()),
  receive: (max = 100, group: ConsumerGroup = GROUP) =>
    bus.receive(group, { max, leaseMs: harness.leaseMs, now: harness.now() }),
  /** Receives until `count` messages came: a bus may need more than one call. */
  receiveSome: async (count: number): Promise<Delivery[]> => {
    const deliveries: Delivery[] = [];
    return eventually(
      `${String(count)} deliveries`,
      async () => {
        const max = count - deliveries.length;
        deliveries.push(
          ...(await bus.receive(GROUP, { max, leaseMs: harness.leaseMs, now: harness.now() })),
        );
        return deliveries.length >= count ? deliveries : null;
      },
      REDELIVERY_MS_MAX,
    );
  },
  /** Asks for as long as a message could take; answers what came. */
  receiveAny: async (max = 100, group: ConsumerGroup = GROUP): Promise<Delivery[]> => {
    const deadline = performance.now() + harness.settleMs;
    for (;;) {
      const options = { max, leaseMs: harness.leaseMs, now: harness.now() };
      const deliveries = await bus.receive(group, options);
      if (deliveries.length > 0 || performance.now() >= deadline) return deliveries;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  },
  acknowledge: (deliveries: readonly Delivery[]) => bus.acknowledge(GROUP, deliveries),
  extend: (deliveries: readonly Delivery[]) =>
    bus.extend(GROUP, deliveries, harness.leaseMs, harness.now()),
  retryIn: (delivery: Delivery, ms: number, error = 'it failed') =>
    bus.retryLater(GROUP, delivery, new Date(harness.now().getTime() + ms), error),
  deliverNow: (eventId: string) => bus.deliverNow(GROUP, eventId, harness.now()),
  replay: (eventId: string) => bus.replayDead(GROUP, eventId, harness.now()),
});
export type BusAtNow = ReturnType<typeof onBus>;

export const idsOf = (items: readonly { readonly envelope: { readonly eventId: string } }[]) =>
  items.map(({ envelope }) => envelope.eventId);

export const only = <T>(items: readonly T[]): T => {
  expect(items).toHaveLength(1);
  return items[0]!;
};

/** A bus that may repeat may also have brought the message to somebody who did not ask for it any more. */
export const expectDeliveries = (
  harness: Pick<BusHarness, 'mayRepeat'>,
  delivery: Delivery,
  count: number,
): void => {
  if (harness.mayRepeat) expect(delivery.deliveries).toBeGreaterThanOrEqual(count);
  else expect(delivery.deliveries).toBe(count);
};
