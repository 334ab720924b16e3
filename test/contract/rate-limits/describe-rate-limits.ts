import type { RateLimits, RateRule } from '../../../src/ports/rate-limits';
import { eventually } from '../../support/eventually';

/** What every adapter of src/ports/rate-limits.ts passes. `open` answers another process on the same store. */
export const describeRateLimits = (
  adapter: string,
  { open, isShared }: { readonly open: () => RateLimits; readonly isShared: boolean },
): void => {
  let rules = 0;
  const rule = (pointsMax: number, windowMs = 60_000): RateRule => ({
    name: `rule${(rules += 1)}`,
    pointsMax,
    windowMs,
  });

  describe(`rate limits (${adapter})`, () => {
    it('allow as much as the rule says, and tell what remains', async () => {
      const limits = open();
      const three = rule(3);
      const verdicts = [];
      for (let i = 0; i < 4; i += 1) verdicts.push(await limits.take(three, 'a', 1));
      expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
      expect(verdicts.map(({ remaining }) => remaining)).toEqual([2, 1, 0, 0]);
      for (const { resetMs } of verdicts) {
        expect(resetMs).toBeGreaterThan(50_000);
        expect(resetMs).toBeLessThanOrEqual(60_000);
      }
    });

    it('count several points at once, all or none', async () => {
      const limits = open();
      const ten = rule(10);
      expect(await limits.take(ten, 'a', 8)).toMatchObject({ allowed: true, remaining: 2 });
      expect(await limits.take(ten, 'a', 3)).toMatchObject({ allowed: false });
    });

    it('keep subjects and rules apart', async () => {
      const limits = open();
      const [one, other] = [rule(1), rule(1)];
      await limits.take(one, 'a', 1);
      expect(await limits.take(one, 'b', 1)).toMatchObject({ allowed: true });
      expect(await limits.take(other, 'a', 1)).toMatchObject({ allowed: true });
      expect(await limits.take(one, 'a', 1)).toMatchObject({ allowed: false });
    });

    it('never allow more under concurrency', async () => {
      const processes = isShared ? [open(), open()] : [open()];
      const many = rule(25);
      const verdicts = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          (processes[index % processes.length] as RateLimits).take(many, 'a', 1),
        ),
      );
      expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(25);
    });

    it('begin anew when the window is over', async () => {
      const limits = open();
      const quick = rule(1, 1_000);
      await limits.take(quick, 'a', 1);
      expect(await limits.take(quick, 'a', 1)).toMatchObject({ allowed: false });
      await eventually('a new window', async () =>
        (await limits.take(quick, 'a', 1)).allowed ? true : null,
      );
    });
  });
};
