import { existsSync } from 'node:fs';
import path from 'node:path';

/** The folder of package.json: two levels up from src, three from dist/src. */
export const projectRoot = (): string => {
  let folder = __dirname;
  while (!existsSync(path.join(folder, 'package.json'))) {
    const parent = path.dirname(folder);
    if (parent === folder) throw new Error('package.json was not found above the program');
    folder = parent;
  }
  return folder;
};
