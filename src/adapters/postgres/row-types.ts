import { types } from 'pg';

type ParseText = (text: string) => unknown;

const INT8 = 20;
const TIMESTAMPTZ = 1184;

const UTC_TEXT = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00$/;
const parseTimestamp = types.getTypeParser(TIMESTAMPTZ);

/** Sessions run in UTC, so nearly every timestamp is an ISO text but for two characters. */
const parseTimestamptz: ParseText = (text) =>
  UTC_TEXT.test(text)
    ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`)
    : parseTimestamp(text);

/** Asked for every column of every answer, so remembered. */
const textParsers = new Map<number, ParseText>([
  [INT8, BigInt],
  [TIMESTAMPTZ, parseTimestamptz],
]);

const textParserOf = (oid: number): ParseText => {
  const known = textParsers.get(oid);
  if (known !== undefined) return known;
  const parser: ParseText = types.getTypeParser(oid, 'text');
  textParsers.set(oid, parser);
  return parser;
};

/**
 * How values leave Postgres: int8 as bigint, timestamptz as Date, numeric and uuid as text, jsonb parsed, the rest as
 * `pg` does it. Given to one pool; the parsers of other users of `pg` in the process stay as they are.
 */
export const rowTypes = {
  getTypeParser: (oid: number, format?: 'text' | 'binary'): ParseText =>
    format === 'binary' ? types.getTypeParser(oid, 'binary') : textParserOf(oid),
};
