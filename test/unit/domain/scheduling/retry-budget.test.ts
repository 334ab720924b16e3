import fc from 'fast-check';
import {
  backoffMs,
  judgeRetry,
  RETRY_BUDGETS,
  RETRY_STEPS,
  type RetryBudget,
  type RetryStep,
} from '../../../../src/domain/scheduling/retry-budget';

const NOW = new Date('2026-12-01T12:00:00Z');
const step = fc.constantFrom(...RETRY_STEPS);
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const budgetOf = (name: RetryStep): RetryBudget => RETRY_BUDGETS[name];

const judge = (
  name: RetryStep,
  input: { triesDone?: number; firstTryAt?: Date; random?: number; retryAfterMs?: number } = {},
): ReturnType<typeof judgeRetry> =>
  judgeRetry(name, { triesDone: 1, firstTryAt: NOW, now: NOW, random: 0, ...input });

describe('the pause before the next try', () => {
  it('doubles with each try, up to the cap', () => {
    const ceilings = [1, 2, 3, 4, 8, 9, 100].map((tries) =>
      Math.round(backoffMs('submit', tries, 1)),
    );
    expect(ceilings).toEqual([500, 1_000, 2_000, 4_000, 60_000, 60_000, 60_000]);
  });

  it('is spread between a tenth of its ceiling and the ceiling', () => {
    fc.assert(
      fc.property(step, fc.integer({ min: 1, max: 2_000 }), chance, (name, tries, random) => {
        const budget = budgetOf(name);
        const ceiling = Math.min(budget.backoffMsCap, budget.backoffMsBase * 2 ** (tries - 1));
        const pause = backoffMs(name, tries, random);
        expect(pause).toBeGreaterThanOrEqual(Math.floor(ceiling / 10));
        expect(pause).toBeLessThanOrEqual(Math.ceil(ceiling));
      }),
    );
  });

  it('differs between two that failed together', () => {
    expect(backoffMs('query', 5, 0.1)).not.toBe(backoffMs('query', 5, 0.9));
  });
});

describe('what a provider says about coming back', () => {
  it('is a floor, even above the cap', () => {
    fc.assert(
      fc.property(chance, fc.integer({ min: 0, max: 600_000 }), (random, retryAfterMs) => {
        const verdict = judge('query', { random, retryAfterMs });
        expect(verdict.kind).toBe('RETRY');
        const waits = verdict.kind === 'RETRY' ? verdict.at.getTime() - NOW.getTime() : -1;
        expect(waits).toBeGreaterThanOrEqual(retryAfterMs);
      }),
    );
  });

  it('is not obeyed by all at the same instant', () => {
    const first = judge('submit', { random: 0.1, retryAfterMs: 5_000 });
    const second = judge('submit', { random: 0.9, retryAfterMs: 5_000 });
    expect(first).not.toEqual(second);
  });

  it('ends the budget when it reaches beyond it', () => {
    const tooFar = RETRY_BUDGETS.submit.waitMsMax + 1;
    expect(judge('submit', { retryAfterMs: tooFar })).toEqual({
      kind: 'SPENT',
      by: 'TIME',
      needsPerson: false,
    });
  });
});

describe('the end of a budget', () => {
  it.each(RETRY_STEPS)('of %s comes with its last try', (name) => {
    const { triesMax, needsPerson } = budgetOf(name);
    expect(judge(name, { triesDone: triesMax - 1 }).kind).toBe('RETRY');
    expect(judge(name, { triesDone: triesMax })).toEqual({
      kind: 'SPENT',
      by: 'TRIES',
      needsPerson,
    });
  });

  it.each(RETRY_STEPS)('of %s comes with its time', (name) => {
    const { waitMsMax, needsPerson } = budgetOf(name);
    const long = new Date(NOW.getTime() - waitMsMax);
    const recent = new Date(NOW.getTime() - waitMsMax / 2);
    expect(judge(name, { firstTryAt: recent }).kind).toBe('RETRY');
    expect(judge(name, { firstTryAt: long })).toEqual({ kind: 'SPENT', by: 'TIME', needsPerson });
  });

  it('is bounded for every step: no retry without tries, time and a cap', () => {
    for (const name of RETRY_STEPS) {
      const budget = budgetOf(name);
      expect(Number.isFinite(budget.triesMax * budget.waitMsMax * budget.backoffMsCap)).toBe(true);
      expect(budget.backoffMsBase).toBeLessThanOrEqual(budget.backoffMsCap);
    }
  });

  it('moves no step but the submit to another provider', () => {
    expect(RETRY_STEPS.filter((name) => RETRY_BUDGETS[name].otherProviderAllowed)).toEqual([
      'submit',
    ]);
  });

  it('leaves unknown submits and finished but unprocessed videos to a person', () => {
    expect(RETRY_STEPS.filter((name) => RETRY_BUDGETS[name].needsPerson)).toEqual([
      'reconcile',
      'media',
    ]);
  });
});
