import { acquireToken, after, makeScopes, namesOf, newHolder, NOW, TTL_MS } from './slots-harness';
import type { SlotsHarness } from './slots-harness';

export const describeSlotLeases = (harness: () => SlotsHarness): void => {
  describe('leases', () => {
    it('have tokens that rise', async () => {
      const { slots } = harness();
      const scopes = makeScopes(9);
      const tokens: bigint[] = [];
      for (let count = 0; count < 5; count += 1) {
        tokens.push(await acquireToken(slots, newHolder(), scopes));
      }
      expect(tokens.every((token, index) => index === 0 || token > tokens[index - 1]!)).toBe(true);
    });

    it('answer their token when the same holder asks again, and count once', async () => {
      const { slots } = harness();
      const scopes = makeScopes(1);
      const holder = newHolder();
      const token = await acquireToken(slots, holder, scopes);
      expect(await acquireToken(slots, holder, scopes)).toBe(token);
      expect(Object.values(await slots.usage(namesOf(scopes)))).toEqual([1, 1, 1, 1]);
    });

    it('are one when the same holder asks many times at once', async () => {
      const processes = [harness().slots, await harness().open()];
      const scopes = makeScopes(9);
      const holder = newHolder();
      const tokens = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          acquireToken(processes[index % 2]!, holder, scopes),
        ),
      );
      expect(new Set(tokens).size).toBe(1);
      expect(Object.values(await processes[0]!.usage(namesOf(scopes)))).toEqual([1, 1, 1, 1]);
    });

    it('are renewed and released by their holder with the present token only', async () => {
      const { slots } = harness();
      const scopes = makeScopes(2);
      const [holder, other] = [newHolder(), newHolder()];
      const token = await acquireToken(slots, holder, scopes);
      await acquireToken(slots, other, scopes);

      expect(await slots.renew(holder, token + 1_000n, TTL_MS, NOW)).toBe(false);
      expect(await slots.release(holder, token + 1_000n, NOW)).toBe(false);
      expect(await slots.release(other, token, NOW)).toBe(false);
      expect(Object.values(await slots.usage(namesOf(scopes)))).toEqual([2, 2, 2, 2]);

      expect(await slots.renew(holder, token, TTL_MS, NOW)).toBe(true);
      expect(await slots.release(holder, token, NOW)).toBe(true);
      expect(await slots.release(holder, token, NOW)).toBe(false);
      expect(await slots.renew(holder, token, TTL_MS, NOW)).toBe(false);
      expect(Object.values(await slots.usage(namesOf(scopes)))).toEqual([1, 1, 1, 1]);
    });

    it('that expired still count', async () => {
      const { slots } = harness();
      const scopes = makeScopes(1);
      await acquireToken(slots, newHolder(), scopes);
      const late = after(TTL_MS * 100);
      expect((await slots.acquire(newHolder(), scopes, TTL_MS, late)).kind).toBe('FULL');
    });

    it('cannot be touched by a paused holder that wakes when it has been given a new one', async () => {
      const { slots } = harness();
      const scopes = makeScopes(1);
      const holder = newHolder();
      const stale = await acquireToken(slots, holder, scopes);
      await slots.rebuild([], TTL_MS, after(TTL_MS));
      const present = await acquireToken(slots, holder, scopes, after(TTL_MS));

      expect(present).toBeGreaterThan(stale);
      expect(await slots.renew(holder, stale, TTL_MS, after(TTL_MS))).toBe(false);
      expect(await slots.release(holder, stale, after(TTL_MS))).toBe(false);
      expect(Object.values(await slots.usage(namesOf(scopes)))).toEqual([1, 1, 1, 1]);
    });

    it('are given back once when released twice at once', async () => {
      const processes = [harness().slots, await harness().open()];
      const scopes = makeScopes(5);
      const holder = newHolder();
      await acquireToken(processes[0]!, newHolder(), scopes);
      const token = await acquireToken(processes[0]!, holder, scopes);
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) => processes[index % 2]!.release(holder, token, NOW)),
      );
      expect(answers.filter(Boolean)).toHaveLength(1);
      expect(Object.values(await processes[0]!.usage(namesOf(scopes)))).toEqual([1, 1, 1, 1]);
    });
  });
};
