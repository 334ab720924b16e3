import { expectKept } from './support/house-rule';
import {
  crashPointsAreUnique,
  everyTestRuns,
  exportsHaveNames,
  filesAreKebabCase,
  filesAreShort,
  namesSayWhatTheyHold,
} from './support/house-rules';
import { readSourceFiles, type SourceFile } from './support/source-files';

const CODE = ['src', 'sandbox', 'test', 'bench', 'chaos', 'cluster', 'scripts', 'prisma', 'schema'];

const named = (...paths: string[]): SourceFile[] => paths.map((path) => ({ path, text: '' }));
const written = (text: string): SourceFile[] => [{ path: 'src/planted.ts', text }];

describe('names', () => {
  const files = ['.ts', '.mjs', '.sql', '.prisma', '.graphql'].flatMap((suffix) =>
    readSourceFiles(CODE, suffix),
  );

  it('finds the files of the repository', () => {
    expect(files.map(({ path }) => path)).toContain('test/architecture/house.test.ts');
  });

  it('are kebab-case', () => expectKept(filesAreKebabCase, files));

  it('say what the file holds', () => expectKept(namesSayWhatTheyHold, files));

  it('are reported when they are camel-case, snake-case or capitalised', () => {
    const planted = named('src/outboxRelay.ts', 'src/outbox_relay.ts', 'src/Relay.ts');
    expect(filesAreKebabCase.find(planted)).toEqual(planted.map(({ path }) => path));
    expect(filesAreKebabCase.find(named('src/a/outbox-relay.test.ts', 'src/api.ts'))).toEqual([]);
  });

  it('are reported when a file or a folder is called utils, helper, common or manager', () => {
    const planted = named(
      'src/utils/a.ts',
      'src/date-helpers.ts',
      'src/common.ts',
      'src/slot-manager.ts',
    );
    expect(namesSayWhatTheyHold.find(planted)).toEqual(planted.map(({ path }) => path));
    expect(namesSayWhatTheyHold.find(named('src/commonplace.ts', 'src/admission.ts'))).toEqual([]);
  });
});

describe('exports', () => {
  it('have names', () =>
    expectKept(
      exportsHaveNames,
      // Jest finds its global setup and teardown by their default export.
      readSourceFiles(CODE, '.ts').filter(({ path }) => !path.startsWith('test/support/global-')),
    ));

  it.each([
    'export default 1;',
    'export default function a() {}',
    'const a = 1;\nexport { a as default };',
    'export = 1;',
  ])('are reported without a name: %j', (text) => {
    expect(exportsHaveNames.find(written(text))).toHaveLength(1);
  });

  it('may import the default of a package and end a switch with default', () => {
    expect(
      exportsHaveNames.find(written("import a from 'a';\nswitch (a) {\n  default:\n}")),
    ).toEqual([]);
  });
});

describe('files', () => {
  it('are short', () => expectKept(filesAreShort, readSourceFiles(['src', 'sandbox'], '.ts')));

  it('are reported from 401 lines on', () => {
    expect(filesAreShort.find(written('x\n'.repeat(400)))).toEqual([]);
    expect(filesAreShort.find(written('x\n'.repeat(401)))).toEqual(['src/planted.ts: 401 lines']);
  });
});

describe('tests', () => {
  const files = readSourceFiles(['test'], '.ts').filter(
    ({ path }) => !path.startsWith('test/support/'),
  );

  it('all run', () => expectKept(everyTestRuns, files));

  it.each([
    'it.only("a", f)',
    'describe.skip("a", f)',
    'test.todo("a")',
    'it.skip.each([])("a", f)',
    'xit("a", f)',
  ])('are reported when some are hidden: %s', (text) =>
    expect(everyTestRuns.find(written(text))).toEqual(['src/planted.ts:1']),
  );

  it('may use each and read a property called only', () => {
    expect(everyTestRuns.find(written('it.each([1])("a", () => options.only)'))).toEqual([]);
  });
});

describe('crash points', () => {
  it('have one place each', () =>
    expectKept(crashPointsAreUnique, readSourceFiles(['src'], '.ts')));

  it('are reported when two places share a name', () => {
    const twice = "await crashpoint('submit.after_http');\nawait crashpoint('submit.after_http');";
    expect(crashPointsAreUnique.find(written(twice))).toEqual([
      'submit.after_http is named at src/planted.ts:1 and src/planted.ts:2',
    ]);
  });

  it('are reported when the name is computed or has no stage', () => {
    expect(crashPointsAreUnique.find(written('crashpoint(name);'))).toHaveLength(1);
    expect(crashPointsAreUnique.find(written("crashpoint('boom');"))).toHaveLength(1);
    expect(crashPointsAreUnique.find(written("crashpoint('submit.after_http');"))).toEqual([]);
  });
});
