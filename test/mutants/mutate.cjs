/**
 * A Jest transform that applies one mutant's edits to the source on its way to the compiler. Files that the mutant leaves alone
 * are compiled once for all mutants.
 */
'use strict';

const { createHash } = require('node:crypto');
const path = require('node:path');

const swc = require('@swc/jest');

const ROOT = path.resolve(__dirname, '../..');
const STATEMENTS = 'src/adapters/postgres/statements.ts';
const READ_SQL = "readFileSync(path.join(SQL_DIR, file), 'utf8')";

const isSql = (edit) => edit.file.endsWith('.sql');

/** SQL is read when it is first needed, so its edits travel with the file that reads it. */
const withSqlEdits = (source, edits) => {
  const byFile = edits.map(({ file, from, to }) => [path.basename(file), from, to]);
  const edited = source.replace(
    READ_SQL,
    `${JSON.stringify(byFile)}.reduce((text, [name, from, to]) => (name === file ? text.replaceAll(from, () => to) : text), ${READ_SQL})`,
  );
  if (edited === source) throw new Error(`${STATEMENTS} reads SQL in another way now`);
  return edited;
};

const mutate = (file, source, edits) => {
  let text = source;
  for (const { from, to } of edits.filter((edit) => edit.file === file)) {
    text = text.replaceAll(from, () => to);
  }
  return file === STATEMENTS && edits.some(isSql) ? withSqlEdits(text, edits.filter(isSql)) : text;
};

module.exports = {
  createTransformer: ({ swcOptions, edits }) => {
    const inner = swc.createTransformer(swcOptions);
    const prepare = (source, sourcePath) =>
      mutate(path.relative(ROOT, sourcePath).replaceAll(path.sep, '/'), source, edits);
    return {
      process: (source, sourcePath, options) =>
        inner.process(prepare(source, sourcePath), sourcePath, options),
      getCacheKey: (source, sourcePath) =>
        createHash('sha256')
          .update(JSON.stringify([swcOptions, sourcePath, prepare(source, sourcePath)]))
          .digest('hex'),
    };
  },
};
