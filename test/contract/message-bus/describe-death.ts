import { eventually } from '../../support/eventually';
import { idsOf, only, type BusAtNow } from './bus-harness';
import type { BusSuite } from './describe-delivery';
import { makeQueuedMessages } from './make-messages';

const DEATH_MS_MAX = 30_000;

export const describeDeath = ({ open, harness }: BusSuite): void => {
  describe('a message that always fails', () => {
    const failUntilDead = async (bus: BusAtNow, from = 1): Promise<void> => {
      for (let delivery = from; delivery <= harness().deliveriesMax; delivery += 1) {
        const poison = only(await bus.receiveSome(1));
        expect(poison.deliveries).toBe(delivery);
        await bus.retryIn(poison, 0, `failure ${String(delivery)}`);
      }
    };

    it('is dead after its last delivery and comes back only by a replay, counted from the start', async () => {
      const bus = await open();
      const messages = makeQueuedMessages(1, harness().now());
      const eventId = messages[0]!.envelope.eventId;
      await bus.publish(messages);
      expect(await bus.replay(eventId)).toBe(false);
      expect(await bus.bus.deadGroupsOf(eventId)).toEqual([]);
      await failUntilDead(bus);

      await harness().pass(harness().leaseMs);
      expect(await bus.receiveAny()).toEqual([]);
      expect(await bus.bus.nextDueAt('scheduler')).toBeNull();

      expect(await bus.bus.deadGroupsOf(eventId)).toEqual(['scheduler']);
      expect(await bus.replay(eventId)).toBe(true);
      expect(await bus.bus.deadGroupsOf(eventId)).toEqual([]);
      const replayed = only(await bus.receiveSome(1));
      expect(idsOf([replayed])).toEqual([eventId]);
      expect(replayed.deliveries).toBe(1);
      expect(await bus.replay(eventId)).toBe(false);
    });

    it('comes back from death, and from the wait for its next try, at once; not from whoever has it', async () => {
      const bus = await open();
      const messages = makeQueuedMessages(1, harness().now());
      const eventId = messages[0]!.envelope.eventId;
      expect(await bus.deliverNow(eventId)).toBe(false);
      await bus.publish(messages);
      const first = only(await bus.receiveSome(1));
      expect(await bus.deliverNow(eventId)).toBe(false);
      await bus.retryIn(first, 3_600_000);
      expect(await bus.receiveAny()).toEqual([]);

      expect(await bus.deliverNow(eventId)).toBe(true);
      expect(await bus.deliverNow(eventId)).toBe(false);
      const second = only(await bus.receiveSome(1));
      expect(idsOf([second])).toEqual([eventId]);
      expect(second.deliveries).toBe(2);
      await bus.retryIn(second, 0);

      await failUntilDead(bus, 3);
      expect(await bus.bus.deadGroupsOf(eventId)).toEqual(['scheduler']);
      expect(await bus.deliverNow(eventId)).toBe(true);
      expect(only(await bus.receiveSome(1)).deliveries).toBe(1);
    });

    it('is dead, too, when it kills every consumer before it can answer, and lets those behind it pass', async () => {
      const bus = await open();
      const [poison, healthy] = makeQueuedMessages(2, harness().now());
      await bus.publish([poison!]);
      for (let delivery = 1; delivery <= harness().deliveriesMax; delivery += 1) {
        expect(only(await bus.receiveSome(1)).deliveries).toBe(delivery);
        await harness().pass(harness().leaseMs);
      }

      await bus.publish([{ ...healthy!, availableAt: harness().now() }]);
      expect(idsOf(await bus.receiveSome(1))).toEqual(idsOf([healthy!]));
      await eventually(
        'the poison is dead',
        async () => {
          const again = await bus.receive();
          expect(idsOf(again)).not.toContain(poison!.envelope.eventId);
          return (await bus.replay(poison!.envelope.eventId)) ? true : null;
        },
        DEATH_MS_MAX,
      );
    });
  });
};
