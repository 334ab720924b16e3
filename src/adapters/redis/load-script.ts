import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import type { Script } from './redis-connection';

/** Files of one folder, one after the other, as one script. */
export const loadScript = (folder: string, ...files: readonly string[]): Script => {
  const text = files.map((file) => readFileSync(path.join(folder, file), 'utf8')).join('\n');
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
};
