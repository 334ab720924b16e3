import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { REPOSITORY } from './source-files';

/** A throw-away repository with the real configuration of the tools and only the given files. */
export interface ToolWorkspace {
  readonly folder: string;
  /** Runs a command-line tool of node_modules there; answers its standard output whatever its exit code. */
  readonly runTool: (script: string, args: readonly string[]) => string;
  readonly remove: () => void;
}

const CONFIGURATION = [
  'package.json',
  'tsconfig.json',
  'eslint.config.mjs',
  '.dependency-cruiser.cjs',
  'scripts/lint',
];

export const createToolWorkspace = (files: Readonly<Record<string, string>>): ToolWorkspace => {
  const folder = mkdtempSync(join(tmpdir(), 'aivedio-tools-'));
  for (const path of CONFIGURATION) {
    cpSync(join(REPOSITORY, path), join(folder, path), { recursive: true });
  }
  symlinkSync(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'), 'dir');
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return {
    folder,
    runTool: (script, args) => {
      const run = spawnSync(process.execPath, [join(REPOSITORY, 'node_modules', script), ...args], {
        cwd: folder,
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
      });
      if (run.stdout === '') throw new Error(`${script} printed nothing: ${run.stderr}`);
      return run.stdout;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
