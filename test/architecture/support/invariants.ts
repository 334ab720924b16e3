import type { HouseRule } from './house-rule';

/** A numbered invariant of ARCHITECTURE.md and the test files its line names. */
export interface Invariant {
  readonly id: string;
  readonly tests: readonly string[];
}

export interface InvariantDocument {
  readonly text: string;
  readonly fileExists: (path: string) => boolean;
}

/** Every line that starts with a number `I1`, `I2`, … (a table row, a list item or a heading), in the order of the text. */
export const listInvariants = (text: string): Invariant[] =>
  text.split('\n').flatMap((line) => {
    const id = /^\s*(?:\||[-*]|#+)?\s*(?:\*\*)?(I\d+)\b/.exec(line)?.[1];
    if (id === undefined) return [];
    const tests = [...line.matchAll(/test\/[\w./-]+\.test\.ts/g)].map(([path]) => path);
    return [{ id, tests }];
  });

export const invariantsAreTested: HouseRule<InvariantDocument> = {
  reason: 'An invariant without a test is a wish.',
  fix: 'Number the invariants of ARCHITECTURE.md I1, I2, … and name at least one existing test/….test.ts on the line of each.',
  find: ({ text, fileExists }) => {
    const invariants = listInvariants(text);
    if (invariants.length === 0) return ['ARCHITECTURE.md numbers no invariant'];
    return invariants.flatMap(({ id, tests }, index) => [
      ...(id === `I${index + 1}` ? [] : [`${id} stands where I${index + 1} is expected`]),
      ...(tests.length === 0 ? [`${id} names no test`] : []),
      ...tests
        .filter((path) => !fileExists(path))
        .map((path) => `${id} names ${path}, which does not exist`),
    ]);
  },
};
