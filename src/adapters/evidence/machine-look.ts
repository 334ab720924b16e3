import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';

import type { Found, MachineLook, Secret } from '../../ports/verification';

export interface MachineLookOptions {
  /** Folders whose files are logs, and files that are. */
  readonly logs: readonly string[];
  /** Folders of scratch: each entry belongs to one piece of work. */
  readonly scratch: readonly string[];
  /** Scratch untouched since then is left over. */
  readonly leftBefore: Date;
  /** What the command line or environment of every process of this product names. */
  readonly dataDir: string;
  /** True while the product runs on this data folder. */
  readonly running: boolean;
  /** Processes that are part of the look itself. */
  readonly ownPids: readonly number[];
}

/** Longer than any secret, so that none hides between two chunks. */
const OVERLAP_CHARS = 4_096;

export const createMachineLook = (options: MachineLookOptions): MachineLook => ({
  findSecrets: async (secrets, limit) => {
    const found: Found[] = [];
    for (const log of options.logs) {
      for (const file of await filesOf(log)) {
        const names = await secretsIn(file, secrets);
        found.push(...names.map((name) => ({ subject: file, detail: `${name} stands in it` })));
      }
    }
    return found.slice(0, limit);
  },
  findLeftoverFiles: async (limit) => {
    const found: Found[] = [];
    for (const folder of options.scratch) {
      for (const name of await namesIn(folder)) {
        const file = path.join(folder, name);
        const facts = await orNull(stat(file));
        if (facts === null || facts.mtime >= options.leftBefore) continue;
        found.push({ subject: file, detail: `untouched since ${facts.mtime.toISOString()}` });
      }
    }
    return found.slice(0, limit);
  },
  findLeftoverProcesses: async (limit) => {
    const found: Found[] = [];
    for (const pid of (await namesIn('/proc')).map(Number).filter((each) => each > 0)) {
      const seen = options.ownPids.includes(pid) ? null : await readProcess(pid);
      if (seen === null || !isOurs(seen, options.dataDir)) continue;
      if (options.running && !(await isOrphan(seen))) continue;
      found.push({
        subject: String(pid),
        detail: options.running
          ? 'works for the product, and its parent is gone'
          : 'runs while the product does not',
      });
    }
    return found.slice(0, limit);
  },
});

const filesOf = async (place: string): Promise<string[]> => {
  const facts = await orNull(stat(place));
  if (facts === null) return [];
  if (facts.isFile()) return [place];
  const names = await readdir(place, { recursive: true, withFileTypes: true });
  return names
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
};

const secretsIn = async (file: string, secrets: readonly Secret[]): Promise<string[]> => {
  const left = secrets.map(({ name, pattern }) => ({ name, pattern: new RegExp(pattern) }));
  const names: string[] = [];
  let tail = '';
  for await (const chunk of createReadStream(file, {
    encoding: 'latin1',
    highWaterMark: 2 ** 20,
  })) {
    const text = tail + String(chunk);
    for (const [index, each] of [...left.entries()].reverse()) {
      if (!each.pattern.test(text)) continue;
      names.push(each.name);
      left.splice(index, 1);
    }
    tail = text.slice(-OVERLAP_CHARS);
  }
  return names;
};

interface Seen {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  readonly environment: string;
}

/** Null where it has ended meanwhile, is another account's, or there is no such file system. */
const readProcess = async (pid: number): Promise<Seen | null> => {
  const [command, environment, status] = await Promise.all(
    ['cmdline', 'environ', 'status'].map((name) =>
      readFile(`/proc/${pid}/${name}`, 'latin1').catch(() => ''),
    ),
  );
  if (command === undefined || environment === undefined || status === undefined) return null;
  if (command === '') return null;
  const parent = Number(/^PPid:\s*(\d+)/m.exec(status)?.[1] ?? 0);
  return { pid, parent, command: command.split('\0').join(' '), environment };
};

/** A Node process of the product, or a tool at work in its folder; the database server outlives the product on purpose. */
const isOurs = (seen: Seen, dataDir: string): boolean =>
  seen.environment.split('\0').includes(`AIVEDIO_DATA_DIR=${dataDir}`)
    ? seen.environment.includes('AIVEDIO_BELL=parent')
    : seen.command.includes(`${dataDir}/temp/`) || seen.command.includes(`${dataDir}/sandbox`);

/** A tool whose worker died is inherited by a process that is none of ours. */
const isOrphan = async (seen: Seen): Promise<boolean> => {
  const parent = await readProcess(seen.parent);
  return seen.parent <= 1 || parent === null || !/\bnode\b/.test(parent.command);
};

const namesIn = async (folder: string): Promise<string[]> => (await orNull(readdir(folder))) ?? [];

const orNull = async <T>(work: Promise<T>): Promise<T | null> => {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};
