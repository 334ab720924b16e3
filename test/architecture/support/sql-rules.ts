import type { HouseRule } from './house-rule';
import type { SourceFile } from './source-files';

/** SQL without comments, string constants, quoted identifiers and dollar-quoted bodies, so that only words remain. */
export const stripSql = (text: string): string =>
  text.replace(
    /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$[A-Za-z_]*\$)[\s\S]*?\1/g,
    ' ',
  );

/** How many statements a text holds; a trailing semicolon ends one and starts none. */
export const countStatements = (text: string): number =>
  stripSql(text)
    .split(';')
    .filter((part) => part.trim() !== '').length;

export const oneStatementAFile: HouseRule<readonly SourceFile[]> = {
  reason: 'A statement is looked up, reviewed and measured by the name of its file.',
  fix: 'Put each statement in a file of its own, named after what it does and its guard.',
  find: (files) =>
    files
      .map(({ path, text }) => ({ path, count: countStatements(text) }))
      .filter(({ count }) => count !== 1)
      .map(({ path, count }) => `${path}: ${count} statements`),
};

const OWN_CLOCK =
  /\b(now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday)\s*\(|\b(current_timestamp|current_time|current_date|localtimestamp|localtime)\b/i;

const TEXT_CLOCK = /'(now|today|tomorrow|yesterday)'\s*::|\b(timestamptz?|date)\s+'(now|today)'/i;

export const timeIsAParameter: HouseRule<readonly SourceFile[]> = {
  reason:
    'Time comes from the Clock port; a statement with a clock of its own cannot be tested at another time.',
  fix: 'Take the time as a parameter of the statement.',
  find: (files) =>
    files.flatMap(({ path, text }) => {
      const own = OWN_CLOCK.exec(stripSql(text)) ?? TEXT_CLOCK.exec(text);
      return own === null ? [] : [`${path}: ${own[0].trim()}`];
    }),
};

/** The SQL inside the string and template literals of a TypeScript file, as one pseudo file each. */
export const extractSql = (file: SourceFile): SourceFile[] =>
  [...file.text.matchAll(/`([^`]*)`|'((?:[^'\\\n]|\\.)*)'/g)]
    .map((match) => match[1] ?? match[2] ?? '')
    .filter((text) =>
      /\b(select|insert\s+into|update\s+\w+\s+set|delete\s+from|with\s+\w+\s+as)\b/i.test(text),
    )
    .map((text) => ({ path: file.path, text }));
