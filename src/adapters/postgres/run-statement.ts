import type { Database, Place } from './database';
import { statementOf } from './statements';

export type Parameters = Readonly<Record<string, unknown>>;

const camelCase = (column: string): string =>
  column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

const keysByStatement = new Map<string, readonly string[]>();

/** Column names of a statement as keys, worked out once: its shape only changes with a migration. */
const keysOf = (name: string, fields: readonly { readonly name: string }[]): readonly string[] => {
  const known = keysByStatement.get(name);
  if (known?.length === fields.length) return known;
  const keys = fields.map((field) => camelCase(field.name));
  keysByStatement.set(name, keys);
  return keys;
};

const valueOf = (statement: string, parameters: Parameters, name: string): unknown => {
  const value = parameters[name];
  if (value === undefined) throw new TypeError(`${statement} needs the parameter ${name}`);
  return value;
};

/**
 * Runs `sql/<name>.sql` as a prepared statement. Rows come with camelCase keys; their types are those of
 * `rowTypes`, and `Row` is the caller's word for them. Throws a TypeError for a parameter that is missing.
 */
export const run = async <Row>(
  db: Database,
  name: string,
  parameters: Parameters,
  place?: Place,
): Promise<Row[]> => {
  const statement = statementOf(name);
  const query = {
    name,
    text: statement.text,
    values: statement.parameters.map((parameter) => valueOf(name, parameters, parameter)),
    rowMode: 'array' as const,
  };
  const result = await db.execute(query, place);
  const keys = keysOf(name, result.fields);
  return result.rows.map((values) => {
    const row: Record<string, unknown> = {};
    for (let i = 0; i < keys.length; i += 1) row[keys[i] as string] = values[i];
    return row as Row;
  });
};

/** The first row, or null. */
export const runForOne = async <Row>(
  db: Database,
  name: string,
  parameters: Parameters,
  place?: Place,
): Promise<Row | null> => (await run<Row>(db, name, parameters, place))[0] ?? null;

/** The one row that the statement always answers. */
export const runForOnly = async <Row>(
  db: Database,
  name: string,
  parameters: Parameters,
  place?: Place,
): Promise<Row> => {
  const row = await runForOne<Row>(db, name, parameters, place);
  if (row === null) throw new Error(`${name} answered no row`);
  return row;
};
