import { idsOf, only, type BusAtNow, type BusHarness } from './bus-harness';
import { makeQueuedMessages } from './make-messages';

export interface BusSuite {
  open(): Promise<BusAtNow>;
  harness(): BusHarness;
}

export const describeDelivery = ({ open, harness }: BusSuite): void => {
  describe('delivery', () => {
    it('brings a message unaltered to the group that reads its type, and to no other', async () => {
      const bus = await open();
      const messages = makeQueuedMessages(1, harness().now());
      await bus.publish(messages);

      expect(await bus.receiveAny(10, 'media')).toEqual([]);
      const delivery = only(await bus.receiveSome(1));
      expect(delivery.envelope).toEqual(messages[0]!.envelope);
      expect(delivery.deliveries).toBe(1);
    });

    it('takes an empty batch', async () => {
      const bus = await open();
      await bus.publish([]);
      await bus.acknowledge([]);
      expect(await bus.extend([])).toBe(0);
      expect(await bus.receiveAny()).toEqual([]);
    });

    it('refuses a batch with a message that is not one, and publishes none of it', async () => {
      const bus = await open();
      const [good, bad] = makeQueuedMessages(2, harness().now());
      const broken = { ...bad!, envelope: { ...bad!.envelope, payload: { prompt: 'a cat' } } };

      await expect(bus.publish([good!, broken])).rejects.toThrow();
      expect(await bus.receiveAny()).toEqual([]);
    });

    it('shows a message only when it is available, and says when that will be', async () => {
      const bus = await open();
      const { delayMs, now, pass } = harness();
      const availableAt = new Date(now().getTime() + delayMs);
      expect(await bus.bus.nextDueAt('scheduler')).toBeNull();
      await bus.publish(makeQueuedMessages(1, availableAt));

      expect(await bus.bus.nextDueAt('scheduler')).toEqual(availableAt);
      expect(await bus.receiveAny()).toEqual([]);
      await pass(delayMs);
      expect(await bus.receiveSome(1)).toHaveLength(1);
    });

    it('keeps the order in which the messages of an aggregate were published, or says that it does not', async () => {
      const bus = await open();
      const messages = makeQueuedMessages(40, harness().now());
      for (let at = 0; at < messages.length; at += 8) {
        await bus.publish(messages.slice(at, at + 8));
      }
      const received: string[] = [];
      while (received.length < messages.length) {
        const deliveries = await bus.receiveSome(Math.min(7, messages.length - received.length));
        received.push(...idsOf(deliveries));
        await bus.acknowledge(deliveries);
      }
      if (harness().keepsOrder) expect(received).toEqual(idsOf(messages));
      else expect(new Set(received)).toEqual(new Set(idsOf(messages)));
    });

    it('keeps that order when a later message was due earlier', async () => {
      const bus = await open();
      const { now, pass, delayMs } = harness();
      const [first, second] = makeQueuedMessages(2, now());
      await pass(delayMs);
      await bus.publish([{ ...first!, availableAt: now() }]);
      await bus.publish([second!]);
      const received = idsOf(await bus.receiveSome(2));
      if (harness().keepsOrder) expect(received).toEqual(idsOf([first!, second!]));
      else expect(new Set(received)).toEqual(new Set(idsOf([first!, second!])));
    });

    it('shares messages among the receivers of a group, and loses none', async () => {
      const receivers = await Promise.all([open(), open()]);
      const messages = makeQueuedMessages(200, harness().now());
      await receivers[0].publish(messages);

      const received: string[] = [];
      const missing = (): number => messages.length - new Set(received).size;
      await Promise.all(
        receivers.map(async (bus) => {
          for (let idle = 0; missing() > 0 && idle < 20;) {
            const deliveries = await bus.receiveAny(9);
            if (deliveries.length === 0) idle += 1;
            received.push(...idsOf(deliveries));
            await bus.acknowledge(deliveries);
          }
        }),
      );
      expect([...new Set(received)].sort()).toEqual(idsOf(messages).sort());
      const repeats = received.length - messages.length;
      if (harness().mayRepeat) expect(repeats).toBeLessThan(messages.length / 2);
      else expect(repeats).toBe(0);
    });

    it('carries a message of any size unaltered', async () => {
      const bus = await open();
      const [message] = makeQueuedMessages(1, harness().now());
      const large = {
        ...message!,
        envelope: { ...message!.envelope, traceId: 'x'.repeat(5 * 1024 * 1024) },
      };
      await bus.publish([large]);
      const [delivery] = await bus.receiveSome(1);
      expect(delivery!.envelope.traceId).toHaveLength(5 * 1024 * 1024);
    });
  });
};
