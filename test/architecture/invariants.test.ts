import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectKept } from './support/house-rule';
import { invariantsAreTested, listInvariants } from './support/invariants';
import { REPOSITORY } from './support/source-files';

const find = (text: string): readonly string[] =>
  invariantsAreTested.find({ text, fileExists: (path) => path === 'test/unit/a.test.ts' });

describe('invariants of ARCHITECTURE.md', () => {
  it('each name an existing test', () => {
    const path = join(REPOSITORY, 'ARCHITECTURE.md');
    expectKept(invariantsAreTested, {
      text: existsSync(path) ? readFileSync(path, 'utf8') : '',
      fileExists: (test) => existsSync(join(REPOSITORY, test)),
    });
  });

  it('are read from table rows, list items and headings', () => {
    const text =
      '| I1 | money | `test/a.test.ts` |\n- **I2** [x](test/b/c-d.test.ts)\n### I3\nI am no invariant';
    expect(listInvariants(text)).toEqual([
      { id: 'I1', tests: ['test/a.test.ts'] },
      { id: 'I2', tests: ['test/b/c-d.test.ts'] },
      { id: 'I3', tests: [] },
    ]);
  });

  it('are reported without a test, with a missing test and out of order', () => {
    expect(find('| I1 | a | test/unit/a.test.ts |')).toEqual([]);
    expect(find('| I1 | a | |')).toEqual(['I1 names no test']);
    expect(find('| I1 | a | test/unit/b.test.ts |')).toEqual([
      'I1 names test/unit/b.test.ts, which does not exist',
    ]);
    expect(find('| I2 | a | test/unit/a.test.ts |')).toEqual(['I2 stands where I1 is expected']);
    expect(find('nothing')).toHaveLength(1);
  });
});
