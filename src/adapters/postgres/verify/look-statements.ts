import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { parseStatement, type Statement } from '../statements';

let loaded: ReadonlyMap<string, Statement> | undefined;

/** The statements of a look, by the names of their files. They may read the temporary table of evidence. */
export const lookStatementOf = (name: string): Statement => {
  loaded ??= new Map(
    readdirSync(__dirname)
      .filter((file) => file.endsWith('.sql'))
      .map((file) => {
        const found = path.basename(file, '.sql');
        return [found, parseStatement(found, readFileSync(path.join(__dirname, file), 'utf8'))];
      }),
  );
  const statement = loaded.get(name);
  if (statement === undefined) throw new Error(`No statement of a look is called ${name}`);
  return statement;
};
