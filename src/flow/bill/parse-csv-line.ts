/**
 * The fields of one line of CSV (RFC 4180, with a line break in no field); null where a quote stands in the middle of a
 * field or is not closed.
 */
export const parseCsvLine = (line: string): string[] | null => {
  const fields: string[] = [];
  let at = 0;
  for (;;) {
    const quoted = line[at] === '"';
    const end = quoted ? endOfQuoted(line, at) : endOfPlain(line, at);
    if (end === null) return null;
    const text = line.slice(at, end);
    if (!quoted && text.includes('"')) return null;
    fields.push(quoted ? text.slice(1, -1).replaceAll('""', '"') : text);
    if (end === line.length) return fields;
    if (line[end] !== ',') return null;
    at = end + 1;
  }
};

const endOfPlain = (line: string, from: number): number => {
  const comma = line.indexOf(',', from);
  return comma === -1 ? line.length : comma;
};

/** Behind the closing quote; two quotes stand for one. */
const endOfQuoted = (line: string, from: number): number | null => {
  let at = from + 1;
  for (;;) {
    const quote = line.indexOf('"', at);
    if (quote === -1) return null;
    if (line[quote + 1] !== '"') return quote + 1;
    at = quote + 2;
  }
};
