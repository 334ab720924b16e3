import { expectKept } from './support/house-rule';
import { migrationsStopNobody } from './support/migration-rules';
import { readSourceFiles } from './support/source-files';

/** Those before were released as they are; docs/postgres.md says what an upgrade over them stops. */
const FIRST_UNDER_THE_RULE = 'prisma/migrations/20261203040000';

const find = (text: string): readonly string[] =>
  migrationsStopNobody.find([{ path: 'planted.sql', text }]);

describe('migrations', () => {
  const files = readSourceFiles(['prisma/migrations'], '.sql').filter(
    ({ path }) => path >= FIRST_UNDER_THE_RULE,
  );

  it('are looked at', () => expect(files.length).toBeGreaterThan(1));

  it('stop nobody who works meanwhile', () => expectKept(migrationsStopNobody, files));

  it.each([
    ['CREATE INDEX a ON assets (id);', /index on assets/],
    ['CREATE UNIQUE INDEX "a" ON "assets" ("id");', /index on assets/],
    ['CREATE INDEX CONCURRENTLY a ON assets (id); SELECT 1;', /beside other statements/],
    ['ALTER TABLE assets ALTER COLUMN kind TYPE varchar(3);', /assets is read/],
    ['ALTER TABLE "assets" ALTER COLUMN "kind" SET NOT NULL;', /assets is read/],
    ['ALTER TABLE assets ADD CONSTRAINT c CHECK (id IS NOT NULL);', /assets is read/],
    ['ALTER TABLE assets ADD COLUMN at timestamptz DEFAULT clock_timestamp();', /assets is read/],
    ['UPDATE assets SET kind = kind;', /rows of assets/],
    ['DELETE FROM assets;', /rows of assets/],
    ['ALTER TABLE assets DROP COLUMN kind;', /schema_floor/],
    ['-- Stops writes: assets, few\nALTER TABLE assets RENAME kind TO k;', /schema_floor/],
  ])('are reported when they do: %s', (text, harm) => {
    expect(find(text)).toEqual([expect.stringMatching(harm)]);
  });

  it.each([
    'CREATE INDEX CONCURRENTLY a ON assets (id);',
    'CREATE TABLE t (id int); CREATE INDEX a ON t (id); ALTER TABLE t ADD CONSTRAINT c CHECK (id > 0);',
    'ALTER TABLE assets ADD COLUMN era BIGINT NOT NULL DEFAULT 0;',
    'ALTER TABLE assets ADD CONSTRAINT c CHECK (id IS NOT NULL) NOT VALID;',
    '-- Stops writes: providers, a handful of rows\nCREATE INDEX a ON providers (id);',
    "ALTER TABLE assets DROP COLUMN kind; UPDATE schema_floor SET migration = 'this';",
    '-- CREATE INDEX a ON assets (id);\nSELECT 1;',
  ])('may: %s', (text) => {
    expect(find(text)).toEqual([]);
  });
});
