/**
 * Writes schema/schema.graphql from the compiled type-graphql classes; with --check compares instead, and exits 1 when
 * the committed file is stale.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const file = path.join(root, 'schema', 'schema.graphql');
const require = createRequire(import.meta.url);

const { printApiSchema } = require(path.join(root, 'dist', 'src', 'resolvers', 'print-schema.js'));
const emitted = await printApiSchema();

if (process.argv.includes('--check')) {
  const committed = await readFile(file, 'utf8').catch(() => '');
  if (committed !== emitted) {
    console.error('schema/schema.graphql is not what the classes say: run `npm run emit:schema`.');
    process.exitCode = 1;
  }
} else {
  await writeFile(file, emitted);
}
