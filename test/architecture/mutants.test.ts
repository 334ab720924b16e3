import { findMisfits } from '../mutants/find-misfits';
import { MUTANTS } from '../mutants/mutants';

const [first] = MUTANTS;

describe('the mutants', () => {
  it('fit the source: each edit finds the text that it replaces', () => {
    // Fix: give the edit in test/mutants/mutants.ts the present text of the guard that it takes away.
    expect(findMisfits(MUTANTS)).toEqual([]);
  });

  it('have names of their own', () => {
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
  });

  it('that fit no more are told', () => {
    if (first === undefined) throw new Error('there are no mutants');
    const edits = first.edits.map((edit) => ({ ...edit, from: `${edit.from} no more` }));
    expect(findMisfits([{ ...first, edits }])).toEqual([
      `${first.name}: ${first.edits[0]?.file ?? ''} has its text 0 times and not 1`,
    ]);
  });
});
