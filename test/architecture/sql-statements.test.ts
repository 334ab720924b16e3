import { expectKept } from './support/house-rule';
import { readSourceFiles, type SourceFile } from './support/source-files';
import {
  countStatements,
  extractSql,
  oneStatementAFile,
  timeIsAParameter,
} from './support/sql-rules';

const statement = (text: string): SourceFile[] => [{ path: 'planted.sql', text }];

describe('SQL statements', () => {
  const files = readSourceFiles(['src'], '.sql');

  it('stand one in a file', () => expectKept(oneStatementAFile, files));

  it('take the time as a parameter', () => expectKept(timeIsAParameter, files));

  it('inside TypeScript take the time as a parameter too', () =>
    expectKept(
      timeIsAParameter,
      readSourceFiles(['src'], '.ts')
        // Its question is what the server's clock says.
        .filter(({ path }) => path !== 'src/adapters/postgres/database-health.ts')
        .flatMap(extractSql),
    ));

  it.each([
    ['select 1', 1],
    ['select 1;\n', 1],
    ["-- a; b\nselect ';' /* ; */;", 1],
    ['do $body$ begin; end; $body$', 1],
    ['select 1; select 2', 2],
    ['-- nothing', 0],
  ])('are counted without comments and constants: %j', (text, count) => {
    expect(countStatements(text)).toBe(count);
  });

  it('are reported when two share a file', () => {
    expect(oneStatementAFile.find(statement('select 1; select 2;'))).toEqual([
      'planted.sql: 2 statements',
    ]);
  });

  it.each([
    'select now()',
    'select NOW ( )',
    'update t set a = current_timestamp',
    'select clock_timestamp()',
    'select localtimestamp',
    "select 'now'::timestamptz",
  ])('are reported when they read a clock of their own: %s', (text) => {
    expect(timeIsAParameter.find(statement(text))).toHaveLength(1);
  });

  it.each(['select $1::timestamptz as now', '-- never now()\nselect 1', "select 'now()'"])(
    'may mention the word: %j',
    (text) => expect(timeIsAParameter.find(statement(text))).toEqual([]),
  );

  it('are found in template literals', () => {
    const file = { path: 'a.ts', text: 'const now = clock.now();\nconst q = `select now()`;' };
    expect(timeIsAParameter.find(extractSql(file))).toEqual(['a.ts: now(']);
  });
});
