import type { HouseRule } from './house-rule';
import type { SourceFile } from './source-files';

/** Statements without comments, constants, bodies of functions and quotes around names. */
const statementsOf = (text: string): string[] =>
  text
    .replace(/--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|(\$[A-Za-z_]*\$)[\s\S]*?\1/g, ' ')
    .replaceAll('"', '')
    .split(';')
    .map((statement) => statement.replace(/\s+/g, ' ').trim())
    .filter((statement) => statement !== '');

const INDEX = /^create (?:unique )?index (concurrently )?.*? on (?:only )?(\w+)/i;
const SLOW_CHANGE =
  /\balter (?:column )?\w+ (?:set data )?type\b|\bset not null\b|\badd column\b[^,]*\bdefault \w+\s*\(|\badd constraint\b(?!.*\bnot valid\b)(?!.*\busing index\b)/i;
const TAKES_AWAY = /\bdrop (?:column|table|function|type)\b|\brename\b/i;

/** What each statement does to tables that stand already, and for how long others wait; null: not at all. */
const harmOf = (
  statement: string,
  created: ReadonlySet<string>,
  isAlone: boolean,
): string | null => {
  const index = INDEX.exec(statement);
  if (index !== null) {
    const [, concurrently, table = ''] = index;
    if (concurrently !== undefined) {
      return isAlone ? null : 'an index built concurrently beside other statements';
    }
    return created.has(table) ? null : `an index on ${table} that stops its writes`;
  }
  const altered = /^alter table (?:only )?(\w+)/i.exec(statement)?.[1];
  if (altered !== undefined && !created.has(altered) && SLOW_CHANGE.test(statement)) {
    return `${altered} is read through, or written anew, under a lock`;
  }
  const updated = /^(?:update|delete from) (\w+)/i.exec(statement)?.[1];
  return updated !== undefined && updated !== 'schema_floor' && !created.has(updated)
    ? `rows of ${updated} are changed in the transaction of the migration`
    : null;
};

const STOPS = /^-- Stops writes: ./m;
const RAISES_FLOOR = /\bupdate schema_floor\b/i;

/** For migrations after the ones that came before the rule. */
export const migrationsStopNobody: HouseRule<readonly SourceFile[]> = {
  reason:
    'A migration runs while the release before works: what holds a lock for as long as a table is large stops all of it.',
  fix:
    'Build the index CONCURRENTLY, alone in its file; add a constraint NOT VALID and validate it in a file of its own; change rows in batches ' +
    'from the product. Where the table is small for certain, say so in a line "-- Stops writes: <table>, <why that is short>". What takes ' +
    'something away waits until the release before does not use it, and raises schema_floor.',
  find: (files) =>
    files.flatMap(({ path, text }) => {
      const statements = statementsOf(text);
      const created = new Set(
        statements.flatMap(
          (statement) => /^create table (?:if not exists )?(\w+)/i.exec(statement)?.[1] ?? [],
        ),
      );
      const harms = STOPS.test(text)
        ? []
        : statements.flatMap(
            (statement) => harmOf(statement, created, statements.length === 1) ?? [],
          );
      const floor =
        statements.some((statement) => TAKES_AWAY.test(statement)) && !RAISES_FLOOR.test(text)
          ? ['something is taken away, and schema_floor stays']
          : [];
      return [...harms, ...floor].map((harm) => `${path}: ${harm}`);
    }),
};
