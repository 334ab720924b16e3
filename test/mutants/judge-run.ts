import type { Mutant } from './mutants';

/** What one project of the run came to. */
export interface ScenarioRun {
  readonly project: string;
  /** Why the file could not be run at all; null when it was. */
  readonly crash: string | null;
  readonly tests: readonly {
    readonly fullName: string;
    readonly status: 'passed' | 'failed';
    readonly failures: readonly string[];
  }[];
}

export interface Verdict {
  readonly name: string;
  readonly caught: boolean;
  /** The invariant or assertion, or why it does not count. */
  readonly how: string;
}

/** A failed expectation: not an exception, not a time-out. */
const ASSERTION = /expect\((.*?)\)(\.\w+)+\(/;
const TIME_OUT = /Exceeded timeout|ms still not:/;
/** As findViolations names them, in the difference that Jest shows. */
const INVARIANT = /"invariant": "([^"]+)"/g;

/** Caught: the scenario holds without the mutant, and with it an invariant or an assertion fails. */
export const judgeRun = (
  { name, scenario }: Mutant,
  plain: ScenarioRun | undefined,
  mutated: ScenarioRun | undefined,
): Verdict => {
  const no = (how: string): Verdict => ({ name, caught: false, how });
  if (plain === undefined || plain.tests.length === 0)
    return no(`there is no test "${scenario.test}" in ${scenario.file}`);
  const red = plain.tests.find(({ status }) => status === 'failed');
  if (red !== undefined) return no(`fails without the mutant too: ${firstLine(red.failures)}`);
  if (mutated === undefined || mutated.crash !== null || mutated.tests.length === 0)
    return no(`could not be run: ${mutated?.crash ?? 'no result'}`);
  const failures = mutated.tests.flatMap((test) =>
    test.failures.map((text) => ({ test: test.fullName, text })),
  );
  if (failures.length === 0) return no(`passes "${scenario.test}"`);
  const told = failures.filter(({ text }) => ASSERTION.test(text) && !TIME_OUT.test(text));
  const invariants = new Set(
    told.flatMap(({ text }) => [...text.matchAll(INVARIANT)].map((match) => match[1])),
  );
  const [first] = told;
  if (first === undefined)
    return no(`only by an exception: ${firstLine(failures.map(({ text }) => text))}`);
  const assertion = `${first.test}: ${ASSERTION.exec(first.text)?.[0] ?? ''}…)`;
  return {
    name,
    caught: true,
    how: invariants.size > 0 ? `invariant ${[...invariants].join(', ')}` : assertion,
  };
};

const firstLine = (texts: readonly string[]): string => texts.join('\n').split('\n', 1)[0] ?? '';
