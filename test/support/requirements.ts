import { findPrograms, requirements, type Requirement } from '../../scripts/find-programs.cjs';

/** What some tests need besides Node, as listed in scripts/requirements.json. */
export type RequirementName =
  | 'redis'
  | 'postgres15'
  | 'pgbouncer'
  | 'promtool'
  | 'chromium'
  | 'rocketmq'
  | 'go'
  | 'helm'
  | 'kubernetes-validate';

/**
 * A `describe` whose tests run only where the machine has what they need. Elsewhere they are
 * skipped with one line that says how to have it; with AIVEDIO_REQUIRE_ALL=1, as in continuous
 * integration, a missing thing is a failure instead, so that nothing is left out unnoticed.
 */
export function describeIfAvailable(name: RequirementName, title: string, body: () => void): void {
  const requirement = findRequirement(name);
  if (findPrograms(requirement) !== undefined) {
    describe(title, body);
    return;
  }
  const complaint = `"${title}" needs ${requirement.what}. ${describeRemedy(requirement)}`;
  if (process.env['AIVEDIO_REQUIRE_ALL'] === '1') {
    describe(title, () => {
      test(`has ${name}`, () => {
        throw new Error(complaint);
      });
    });
    return;
  }
  process.stderr.write(`SKIPPED: ${complaint}\n`);
  describe.skip(title, body);
}

/** A `describe` for what only happens to root; skipped aloud for everybody else, also in CI. */
export function describeAsRoot(title: string, body: () => void): void {
  if (process.getuid?.() === 0) {
    describe(title, body);
    return;
  }
  process.stderr.write(`SKIPPED: "${title}" checks what happens to root. Run it once as root.\n`);
  describe.skip(title, body);
}

/** The full path of the program behind a requirement. Throws, with the remedy, when it is missing. */
export function locateProgram(name: RequirementName): string {
  const requirement = findRequirement(name);
  const [program] = findPrograms(requirement) ?? [];
  if (program === undefined) {
    throw new Error(`Missing: ${requirement.what}. ${describeRemedy(requirement)}`);
  }
  return program;
}

function findRequirement(name: RequirementName): Requirement {
  const found = requirements.find((requirement) => requirement.name === name);
  if (found === undefined) throw new Error(`scripts/requirements.json does not list ${name}.`);
  return found;
}

function describeRemedy({ debian, macos, windows }: Requirement): string {
  return `Debian: ${debian} | macOS: ${macos} | Windows: ${windows}`;
}
