import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** One file of `sql/`: its text with `$1`, `$2`, … and the names they stand for, in order. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  readonly parameters: readonly string[];
}

const SQL_DIR = path.join(__dirname, 'sql');

/**
 * In order: comments, quoted text, quoted names and dollar-quoted bodies (left alone), casts (left alone), and at
 * last `:name`. Array slices with a name as their bound would be misread; no statement has one.
 */
const TOKENS =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$[A-Za-z_]*\$)[\s\S]*?\1|::|:([a-z][A-Za-z0-9]*)/g;

/** Turns `:camelName` into `$n`, the same name into the same number, and drops comments. */
export const parseStatement = (name: string, source: string): Statement => {
  const parameters: string[] = [];
  const text = source.replace(TOKENS, (token, _tag: unknown, parameter: string | undefined) => {
    if (token.startsWith('--') || token.startsWith('/*')) return '';
    if (parameter === undefined) return token;
    if (!parameters.includes(parameter)) parameters.push(parameter);
    return `$${String(parameters.indexOf(parameter) + 1)}`;
  });
  return { name, text: text.replace(/\s*;?\s*$/, '').trimStart(), parameters };
};

let loaded: ReadonlyMap<string, Statement> | undefined;

/** Every statement by the name of its file. Read once, at the first call. */
export const loadStatements = (): ReadonlyMap<string, Statement> => {
  loaded ??= new Map(
    readdirSync(SQL_DIR)
      .filter((file) => file.endsWith('.sql'))
      .map((file) => {
        const name = path.basename(file, '.sql');
        return [name, parseStatement(name, readFileSync(path.join(SQL_DIR, file), 'utf8'))];
      }),
  );
  return loaded;
};

export const statementOf = (name: string): Statement => {
  const statement = loadStatements().get(name);
  if (statement === undefined) throw new Error(`No statement is called ${name}`);
  return statement;
};
