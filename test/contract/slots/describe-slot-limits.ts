import { acquireToken, makeScopes, namesOf, newHolder, NOW, TTL_MS } from './slots-harness';
import type { SlotsHarness } from './slots-harness';

export const describeSlotLimits = (harness: () => SlotsHarness): void => {
  describe('limits', () => {
    it('are counted in every scope', async () => {
      const { slots } = harness();
      const scopes = makeScopes(3);
      await acquireToken(slots, newHolder(), scopes);
      await acquireToken(slots, newHolder(), scopes.slice(0, 2));
      const names = namesOf(scopes);
      expect(await slots.usage([...names, 'tenant:unknown'])).toEqual({
        [names[0]!]: 2,
        [names[1]!]: 2,
        [names[2]!]: 1,
        [names[3]!]: 1,
        'tenant:unknown': 0,
      });
    });

    it('refuse with the first scope that is full, and take nothing then', async () => {
      const { slots } = harness();
      const scopes = makeScopes(5);
      const narrow = scopes.map((each, index) => (index >= 2 ? { ...each, limitMax: 1 } : each));
      await acquireToken(slots, newHolder(), narrow);
      const before = await slots.usage(namesOf(scopes));

      expect(await slots.acquire(newHolder(), narrow, TTL_MS, NOW)).toEqual({
        kind: 'FULL',
        scope: scopes[2]!.scope,
      });
      expect(await slots.usage(namesOf(scopes))).toEqual(before);
    });

    it('of zero let nobody in', async () => {
      const { slots } = harness();
      const answer = await slots.acquire(newHolder(), makeScopes(0), TTL_MS, NOW);
      expect(answer.kind).toBe('FULL');
    });

    it('may be raised and lowered between two acquires', async () => {
      const { slots } = harness();
      const scopes = makeScopes(1);
      const withLimit = (limitMax: number) => scopes.map((each) => ({ ...each, limitMax }));
      const first = newHolder();
      const token = await acquireToken(slots, first, withLimit(1));
      await acquireToken(slots, newHolder(), withLimit(2));

      expect((await slots.acquire(newHolder(), withLimit(1), TTL_MS, NOW)).kind).toBe('FULL');
      await slots.release(first, token, NOW);
      expect((await slots.acquire(newHolder(), withLimit(1), TTL_MS, NOW)).kind).toBe('FULL');
      expect((await slots.acquire(newHolder(), withLimit(2), TTL_MS, NOW)).kind).toBe('ACQUIRED');
    });

    it('count a scope once that is named twice', async () => {
      const { slots } = harness();
      const [scope] = makeScopes(1);
      await acquireToken(slots, newHolder(), [scope!, scope!]);
      expect(await slots.usage([scope!.scope])).toEqual({ [scope!.scope]: 1 });
    });

    it('hold when many acquire and release at once, from two processes and in any order of scopes', async () => {
      const processes = [harness().slots, await harness().open()];
      const scopes = makeScopes(4);
      const names = namesOf(scopes);
      const seen: number[] = [];
      let admitted = 0;
      await Promise.all(
        Array.from({ length: 60 }, async (_, index) => {
          const slots = processes[index % 2]!;
          const holder = newHolder();
          const order = index % 3 === 0 ? [...scopes].reverse() : scopes;
          const answer = await slots.acquire(holder, order, TTL_MS, NOW);
          if (answer.kind === 'FULL') return;
          admitted += 1;
          seen.push(...Object.values(await slots.usage(names)));
          expect(await slots.release(holder, answer.token, NOW)).toBe(true);
        }),
      );
      expect(admitted).toBeGreaterThanOrEqual(4);
      expect(Math.max(...seen)).toBeLessThanOrEqual(4);
      expect(Object.values(await processes[0]!.usage(names))).toEqual([0, 0, 0, 0]);
    });

    it('admit exactly as many as fit, whoever comes at once', async () => {
      const processes = [harness().slots, await harness().open()];
      const scopes = makeScopes(7);
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          processes[index % 2]!.acquire(newHolder(), scopes, TTL_MS, NOW),
        ),
      );
      expect(answers.filter(({ kind }) => kind === 'ACQUIRED')).toHaveLength(7);
      expect(Object.values(await processes[0]!.usage(namesOf(scopes)))).toEqual([7, 7, 7, 7]);
    });
  });
};
