import { judgeRun, type ScenarioRun } from '../../mutants/judge-run';
import type { Mutant } from '../../mutants/mutants';

const MUTANT: Mutant = {
  name: 'forgetful',
  does: 'forgets',
  edits: [],
  scenario: { file: 'test/a.test.ts', test: 'remembers' },
};

const run = (...failures: string[]): ScenarioRun => ({
  project: 'any',
  crash: null,
  tests: [
    { fullName: 'it remembers', status: failures.length === 0 ? 'passed' : 'failed', failures },
  ],
});

const ASSERTION = 'Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: 1';

const howOf = (plain: ScenarioRun | undefined, mutated: ScenarioRun | undefined) => {
  const { caught, how } = judgeRun(MUTANT, plain, mutated);
  return `${caught ? 'caught' : 'survived'}: ${how}`;
};

describe('a mutant', () => {
  it('is caught by a failed expectation of a scenario that holds without it', () => {
    expect(howOf(run(), run(ASSERTION))).toBe('caught: it remembers: expect(received).toBe(…)');
  });

  it('is caught by the invariants that are broken, by their names', () => {
    const broken = `Error: expect(received).toEqual(expected)\n+  Object {\n+    "invariant": "one_close",`;
    expect(howOf(run(), run(broken))).toBe('caught: invariant one_close');
  });

  it.each([
    ['passes', run(), run(), 'passes "remembers"'],
    ['ends in an exception', run(), run('TypeError: x is not a function\n at y'), 'exception'],
    ['runs out of time', run(), run('Error: Exceeded timeout of 5000 ms for a test.'), 'timeout'],
    ['waits in vain', run(), run('Error: after 10000 ms still not: expect(a).toBe(1)'), 'still'],
    ['is red anyway', run(ASSERTION), run(ASSERTION), 'fails without the mutant too'],
    ['is not there', { ...run(), tests: [] }, run(ASSERTION), 'there is no test "remembers"'],
    ['cannot be loaded', run(), { ...run(), crash: 'SyntaxError', tests: [] }, 'SyntaxError'],
    ['brought no result', run(), undefined, 'no result'],
  ])('survives a scenario that %s', (_, plain, mutated, how) => {
    const verdict = howOf(plain, mutated);
    expect(verdict).toMatch(/^survived: /);
    expect(verdict).toContain(how);
  });
});
