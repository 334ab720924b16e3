import { statementOf } from './statements';

const PAYLOAD_BYTES_MAX = 4096;

const spellBigInt = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? value.toString() : value;

/** A value as a jsonb parameter: bigint as decimal text, Date as ISO text, null as SQL null. */
export const toJson = (value: unknown): string | null =>
  value === null ? null : JSON.stringify(value, spellBigInt);

const columns = new Map<string, string>();

/** The column of a key; a RangeError when the statement would silently leave it as it is. */
const columnOf = (statement: string, key: string): string => {
  const known = columns.get(`${statement} ${key}`);
  if (known !== undefined) return known;
  const column = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (!new RegExp(`\\bp\\.${column}\\b`).test(statementOf(statement).text)) {
    throw new RangeError(`${statement} does not change ${column}`);
  }
  columns.set(`${statement} ${key}`, column);
  return column;
};

/**
 * A patch of a row for the `jsonb_populate_record(…) AS p` of a statement: only the keys it has are changed, null
 * included.
 */
export const toRowPatch = (statement: string, patch: Readonly<Record<string, unknown>>): string => {
  const row: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(patch)) {
    if (value !== undefined) row[columnOf(statement, key)] = value;
  }
  return JSON.stringify(row, spellBigInt);
};

/** History stays small: a payload over 4 kB is kept as its beginning and its size. */
export const toBoundedPayload = (
  payload: Readonly<Record<string, unknown>> | null,
): string | null => {
  const text = toJson(payload);
  if (text === null) return null;
  const sizeBytes = Buffer.byteLength(text);
  if (sizeBytes <= PAYLOAD_BYTES_MAX) return text;
  for (let chars = PAYLOAD_BYTES_MAX; ; chars = Math.floor(chars / 2)) {
    const cut = JSON.stringify({ cut: true, sizeBytes, begin: text.slice(0, chars) });
    if (Buffer.byteLength(cut) <= PAYLOAD_BYTES_MAX) return cut;
  }
};
