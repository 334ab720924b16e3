import { acquireToken, after, makeScopes, namesOf, newHolder, NOW, TTL_MS } from './slots-harness';
import type { SlotsHarness } from './slots-harness';

export const describeSlotRebuild = (harness: () => SlotsHarness): void => {
  describe('rebuild', () => {
    // Expired leases of other tests would be counted with this one's.
    beforeEach(() => harness().flush());

    it('makes everything anew after a flush, over the limit if the facts are', async () => {
      const { slots, flush } = harness();
      const scopes = makeScopes(2);
      const holders = [newHolder(), newHolder(), newHolder()].map((holder) => ({
        holder,
        scopes,
        token: null,
      }));
      const lost = await acquireToken(slots, holders[0]!.holder, scopes);
      await flush();
      expect(Object.values(await slots.usage(namesOf(scopes)))).toEqual([0, 0, 0, 0]);

      expect(await slots.rebuild(holders, TTL_MS, NOW)).toMatchObject({ removed: 0, added: 3 });
      expect(Object.values(await slots.usage(namesOf(scopes)))).toEqual([3, 3, 3, 3]);
      expect((await slots.acquire(newHolder(), scopes, TTL_MS, NOW)).kind).toBe('FULL');
      expect(await slots.release(holders[0]!.holder, lost, NOW)).toBe(false);

      // The next look tells what was given out beyond a limit; what leaks is told apart.
      const over = await slots.rebuild(holders, TTL_MS, NOW);
      expect(over).toMatchObject({ removed: 0, added: 0 });
      expect(over.overGranted).toEqual(
        scopes
          .map(({ scope }) => ({ scope, counted: 3, leases: 3, limitMax: 2 }))
          .sort((one, other) => (one.scope < other.scope ? -1 : 1)),
      );

      const present = await acquireToken(slots, holders[0]!.holder, scopes);
      expect(present).toBeGreaterThan(lost);
      expect(await slots.release(holders[0]!.holder, present, NOW)).toBe(true);
    });

    it('keeps the token of a holder that is still there, and makes its lease last', async () => {
      const { slots } = harness();
      const scopes = makeScopes(2);
      const holder = newHolder();
      const token = await acquireToken(slots, holder, scopes);
      const late = after(TTL_MS * 3);

      expect(await slots.rebuild([{ holder, scopes, token: null }], TTL_MS, late)).toMatchObject({
        removed: 0,
        added: 0,
      });
      expect(await slots.rebuild([], TTL_MS, late)).toMatchObject({ removed: 0, added: 0 });
      expect(await slots.release(holder, token, late)).toBe(true);
    });

    it('takes the lease of a killed holder when it has expired, and not before', async () => {
      const { slots } = harness();
      const scopes = makeScopes(1);
      const token = await acquireToken(slots, newHolder(), scopes);
      expect(token).toBeGreaterThan(0n);

      expect(await slots.rebuild([], TTL_MS, after(TTL_MS - 1))).toMatchObject({
        removed: 0,
        added: 0,
      });
      expect((await slots.acquire(newHolder(), scopes, TTL_MS, NOW)).kind).toBe('FULL');
      expect(await slots.rebuild([], TTL_MS, after(TTL_MS))).toEqual({
        removed: 1,
        added: 0,
        overGranted: [],
      });
      expect((await slots.acquire(newHolder(), scopes, TTL_MS, NOW)).kind).toBe('ACQUIRED');
    });

    it('moves a holder to the scopes that it has in fact', async () => {
      const { slots } = harness();
      const [before, present] = [makeScopes(2), makeScopes(2)];
      const holder = newHolder();
      await acquireToken(slots, holder, before);
      await slots.rebuild([{ holder, scopes: present, token: null }], TTL_MS, NOW);
      expect(Object.values(await slots.usage(namesOf(before)))).toEqual([0, 0, 0, 0]);
      expect(Object.values(await slots.usage(namesOf(present)))).toEqual([1, 1, 1, 1]);
    });

    it('leaves counts that agree with the leases while others acquire and release', async () => {
      const { slots } = harness();
      const other = await harness().open();
      const scopes = makeScopes(50);
      const held = await Promise.all(
        Array.from({ length: 20 }, async (_, index) => {
          const holder = newHolder();
          const token = await acquireToken(index % 2 === 0 ? slots : other, holder, scopes);
          if (index % 5 === 0) await slots.rebuild([{ holder, scopes, token: null }], TTL_MS, NOW);
          if (index % 2 === 0) await other.release(holder, token, NOW);
          return index % 2 === 0 ? [] : [holder];
        }),
      );
      const count = held.flat().length;
      expect(Object.values(await slots.usage(namesOf(scopes)))).toEqual(Array(4).fill(count));
    });
  });
};
