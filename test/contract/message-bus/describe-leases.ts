import { expectDeliveries, idsOf, only } from './bus-harness';
import type { BusSuite } from './describe-delivery';
import { makeQueuedMessages } from './make-messages';

export const describeLeases = ({ open, harness }: BusSuite): void => {
  describe('leases', () => {
    it('hide a message until they end; then it is delivered again and counted', async () => {
      const [holder, other] = await Promise.all([open(), open()]);
      const messages = makeQueuedMessages(1, harness().now());
      await holder.publish(messages);
      await holder.receiveSome(1);

      expect(await other.receiveAny()).toEqual([]);
      await harness().pass(harness().leaseMs);
      const again = only(await other.receiveSome(1));
      expect(idsOf([again])).toEqual(idsOf(messages));
      expectDeliveries(harness(), again, 2);
    });

    it('end for good with the acknowledgement of a batch', async () => {
      const bus = await open();
      await bus.publish(makeQueuedMessages(3, harness().now()));
      await bus.acknowledge(await bus.receiveSome(3));

      await harness().pass(harness().leaseMs);
      expect(await bus.receiveAny()).toEqual([]);
    });

    it('do not mind a second acknowledgement', async () => {
      const bus = await open();
      await bus.publish(makeQueuedMessages(1, harness().now()));
      const deliveries = await bus.receiveSome(1);
      await bus.acknowledge(deliveries);
      await expect(bus.acknowledge(deliveries)).resolves.toBeUndefined();
    });

    it('ignore an acknowledgement that comes when somebody else has the message', async () => {
      const [late, present] = await Promise.all([open(), open()]);
      await late.publish(makeQueuedMessages(1, harness().now()));
      const lateDeliveries = await late.receiveSome(1);
      await harness().pass(harness().leaseMs);
      const presentDeliveries = await present.receiveSome(1);

      await late.acknowledge(lateDeliveries);
      expect(await present.extend(presentDeliveries)).toBe(1);
      await harness().pass(harness().leaseMs);
      expectDeliveries(harness(), only(await present.receiveSome(1)), 3);
    });

    it('ignore a message handed back by whom it does not belong to any more', async () => {
      const [late, present] = await Promise.all([open(), open()]);
      await late.publish(makeQueuedMessages(1, harness().now()));
      const lateDelivery = only(await late.receiveSome(1));
      await harness().pass(harness().leaseMs);
      await present.receiveSome(1);

      await late.retryIn(lateDelivery, 0);
      expect(await present.receiveAny()).toEqual([]);
    });

    it('are renewed by `extend`, which says how many are still held', async () => {
      const [holder, other] = await Promise.all([open(), open()]);
      const { pass, leaseMs } = harness();
      await holder.publish(makeQueuedMessages(2, harness().now()));
      const deliveries = await holder.receiveSome(2);
      await holder.acknowledge(deliveries.slice(0, 1));

      await pass(leaseMs / 2);
      expect(await holder.extend(deliveries)).toBe(1);
      await pass(leaseMs / 2);
      expect(await other.receiveAny()).toEqual([]);
      await pass(leaseMs / 2);
      expect(await other.receiveSome(1)).toHaveLength(1);
      expect(await holder.extend(deliveries)).toBe(0);
    });

    it('end early when a message is handed back for later', async () => {
      const bus = await open();
      const { delayMs, pass } = harness();
      await bus.publish(makeQueuedMessages(1, harness().now()));
      await bus.retryIn(only(await bus.receiveSome(1)), delayMs);

      expect(await bus.receiveAny()).toEqual([]);
      await pass(delayMs);
      expect(only(await bus.receiveSome(1)).deliveries).toBe(2);
    });
  });
};
