/** Starts one worker as this process: `npm run worker -- scheduler`. */
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const workers = path.join(root, 'dist', 'src', 'workers');
const [name = ''] = process.argv.slice(2);
const main = path.join(workers, name, 'main.js');

if (!/^[a-z-]+$/.test(name) || !existsSync(main)) {
  process.stderr.write(
    `Name one worker: npm run worker -- NAME\n  ${readdirSync(workers).join(', ')}\n`,
  );
  process.exit(1);
}
createRequire(import.meta.url)(main);
