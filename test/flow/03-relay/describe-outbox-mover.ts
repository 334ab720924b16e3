import { parseEnvelope } from '../../../src/ports/messages';
import type { ConsumerGroup } from '../../../src/ports/messages';
import type { OutboxMover } from '../../../src/ports/stores/message-store';
import { addMessages, after, eventIdsOf, NOW, type RelaySetup } from './relay-setup';

type OpenMover = (onMoved?: (groups: readonly ConsumerGroup[]) => void) => OutboxMover;

/** What both movers do, the one of Postgres alone and the relay to any bus. */
export const describeOutboxMover = (
  name: string,
  setup: () => RelaySetup,
  openMover: OpenMover,
): void => {
  describe(`outbox mover: ${name}`, () => {
    it('moves due rows in their order, as envelopes of what was written', async () => {
      const ids = await setup().add(5);
      expect(await openMover().moveBatch(NOW, 100)).toBe(5);

      const deliveries = await setup().receive();
      expect(eventIdsOf(deliveries)).toEqual(ids);
      const { envelope } = deliveries[0]!;
      expect(parseEnvelope(envelope)).toEqual(envelope);
      expect(envelope).toMatchObject({
        eventType: 'generation.queued',
        schemaVersion: 1,
        aggregateVersion: 1,
        traceId: 'trace-1',
        causationId: null,
        occurredAt: NOW.toISOString(),
        payload: { taskId: envelope.aggregateId },
      });
      expect(new Set(Object.values(await setup().statuses()))).toEqual(new Set(['PUBLISHED']));
      expect(await openMover().moveBatch(NOW, 100)).toBe(0);
    });

    it('moves no more than asked, oldest first', async () => {
      const later = await setup().add(2, after(-1));
      const earlier = await setup().add(2, after(-2));
      const mover = openMover();
      expect(await mover.moveBatch(NOW, 3)).toBe(3);
      expect(eventIdsOf(await setup().receive())).toEqual([...earlier, later[0]]);
      expect(await mover.moveBatch(NOW, 3)).toBe(1);
    });

    it('leaves a row until it is due, and says when that is', async () => {
      const mover = openMover();
      expect(await mover.nextDueAt()).toBeNull();
      await setup().add(1, after(60_000));
      expect(await mover.moveBatch(after(59_999), 10)).toBe(0);
      expect(await mover.nextDueAt()).toEqual(after(60_000));
      expect(await mover.moveBatch(after(60_000), 10)).toBe(1);
      expect(await mover.nextDueAt()).toBeNull();
    });

    it('finds a row whose transaction began first and committed last', async () => {
      const { uow, receive } = setup();
      const mover = openMover();
      let commit = (): void => undefined;
      const held = new Promise<void>((resolve) => (commit = resolve));
      let isWritten = (): void => undefined;
      const written = new Promise<void>((resolve) => (isWritten = resolve));
      const slow = uow.transact(async (tx) => {
        const ids = await addMessages(tx, 1);
        isWritten();
        await held;
        return ids;
      });
      await written;
      const fast = await setup().add(1);
      expect(await mover.moveBatch(NOW, 10)).toBe(1);
      commit();
      const late = await slow;
      expect(await mover.moveBatch(NOW, 10)).toBe(1);
      expect(eventIdsOf(await receive())).toEqual([...fast, ...late]);
    });

    it('loses and doubles nothing when several move while others write', async () => {
      const movers = [openMover(), openMover(), openMover()];
      const written: string[] = [];
      let writing = true;
      const write = async (): Promise<void> => {
        await Promise.all(
          Array.from({ length: 4 }, async () => {
            for (let count = 0; count < 15; count += 1) written.push(...(await setup().add(3)));
          }),
        );
        writing = false;
      };
      const move = async (mover: OutboxMover): Promise<number> => {
        let moved = 0;
        while (writing) moved += await mover.moveBatch(NOW, 7);
        return moved;
      };
      const [, ...counts] = await Promise.all([write(), ...movers.map(move)]);
      let rest = 0;
      for (let moved = 1; moved > 0; rest += moved) moved = await movers[0]!.moveBatch(NOW, 50);

      expect(counts.reduce((sum, count) => sum + count, rest)).toBe(written.length);
      const received = eventIdsOf(await setup().receive(1_000));
      expect([...received].sort()).toEqual([...written].sort());
    });

    it('leaves a type that this version does not know to the version that does, and is not late for it', async () => {
      const [unknown] = await setup().add(1);
      const [known] = await setup().add(1);
      await setup().database.pool.query(
        `UPDATE outbox_events SET type = 'from.tomorrow' WHERE id = $1`,
        [unknown],
      );
      const mover = openMover();
      expect(await mover.moveBatch(NOW, 10)).toBe(1);
      expect(await mover.nextDueAt()).toBeNull();
      expect(await setup().statuses()).toEqual({ [unknown!]: 'PENDING', [known!]: 'PUBLISHED' });
      expect(await mover.lag(after(3_600_000))).toMatchObject({
        pendingMs: 0,
        unknown: [{ type: 'from.tomorrow', count: 1 }],
      });
    });

    it('tells which groups have something new', async () => {
      const told: (readonly string[])[] = [];
      const mover = openMover((groups) => told.push(groups));
      await mover.moveBatch(NOW, 10);
      await setup().add(3);
      await mover.moveBatch(NOW, 10);
      expect(told).toEqual([['scheduler']]);
    });
  });
};
