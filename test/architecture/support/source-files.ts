import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';

export const REPOSITORY = resolve(__dirname, '../../..');

/** A file of the repository: `path` is relative to its root, with forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

const GENERATED = new Set(['node_modules', 'generated', 'dist', 'coverage', '.git']);

const walk = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (GENERATED.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? walk(path) : [path];
  });

/** All hand-written files below `folders` (relative to `root`) whose name ends in `suffix`; a missing folder has none. */
export const readSourceFiles = (
  folders: readonly string[],
  suffix: string,
  root: string = REPOSITORY,
): SourceFile[] => {
  const present = new Set(readdirSync(root));
  return folders
    .filter((folder) => present.has(folder.split('/')[0] ?? folder))
    .flatMap((folder) => walk(join(root, folder)))
    .filter((path) => path.endsWith(suffix))
    .map((path) => ({
      path: relative(root, path).split(sep).join('/'),
      text: readFileSync(path, 'utf8'),
    }));
};
