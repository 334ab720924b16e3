import { readFileSync } from 'node:fs';
import path from 'node:path';

import { projectRoot } from '../../src/runtime/project-root';
import type { Mutant } from './mutants';

/** An edit that no longer fits the source would test nothing. */
export const findMisfits = (mutants: readonly Mutant[]): string[] =>
  mutants.flatMap(({ name, edits }) =>
    edits.flatMap(({ file, from, times = 1 }) => {
      const found = readFileSync(path.join(projectRoot(), file), 'utf8').split(from).length - 1;
      return found === times
        ? []
        : [`${name}: ${file} has its text ${found} times and not ${times}`];
    }),
  );
