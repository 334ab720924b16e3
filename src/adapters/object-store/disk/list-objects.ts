import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectHead } from '../../../ports/object-store';
import {
  asStoreErrors,
  OBJECT_MARK,
  orNullIfMissing,
  readHead,
  type DiskLayout,
} from './object-files';
import { isSegment } from '../object-key';

interface Entry {
  readonly name: string;
  readonly isObject: boolean;
  /** What the key goes on with: a folder sorts as its name with the slash that follows it. */
  readonly sortedAs: string;
  /** The store makes folders only, named by keys: whatever else lies here is somebody else's. */
  readonly isStray: boolean;
}

/** Told the path of what lies in the store and is no object of ours; the listing goes past it. */
export type OnStray = (path: string) => void;

/**
 * Yields the objects under a prefix in ascending order of key, one folder in memory at a time. Folders that lie before the
 * start are not read.
 * @param onStray told of what is passed over: it can be no object, and hides none
 */
export async function* listObjects(
  layout: DiskLayout,
  prefix: string,
  {
    startAfter = '',
    limit = Infinity,
  }: { readonly startAfter?: string; readonly limit?: number } = {},
  onStray: OnStray = () => undefined,
): AsyncGenerator<ObjectHead> {
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  let left = limit;
  if (left <= 0) return;
  for await (const head of walk(layout, { folder, prefix, startAfter, onStray })) {
    yield head;
    left -= 1;
    if (left <= 0) return;
  }
}

interface Walk {
  readonly folder: string;
  readonly prefix: string;
  readonly startAfter: string;
  readonly onStray: OnStray;
}

async function* walk(layout: DiskLayout, options: Walk): AsyncGenerator<ObjectHead> {
  const { folder, prefix, startAfter, onStray } = options;
  const path = join(layout.objectsDir, folder);
  for (const entry of await asStoreErrors(() => readEntries(path))) {
    const key = `${folder}${entry.sortedAs}`;
    const within = key.startsWith(prefix);
    // A folder may lie before the start and yet hold what comes after it.
    if (key <= startAfter && (entry.isObject || !startAfter.startsWith(key))) continue;
    if (entry.isStray) {
      if (within) onStray(join(path, entry.name));
    } else if (entry.isObject) {
      const head = within ? await asStoreErrors(() => readHead(layout, key)) : null;
      // Null: deleted while the listing was under way.
      if (head !== null) yield head;
    } else if (within || prefix.startsWith(key)) {
      yield* walk(layout, { ...options, folder: key });
    }
  }
}

async function readEntries(path: string): Promise<Entry[]> {
  const found = (await orNullIfMissing(readdir(path, { withFileTypes: true }))) ?? [];
  const entries: Entry[] = [];
  for (const each of found) {
    const { name } = each;
    const isObject = name.endsWith(OBJECT_MARK);
    const segment = isObject ? name.slice(0, -OBJECT_MARK.length) : name;
    const isStray = !isSegment(segment) || !(await isFolder(each, join(path, name)));
    entries.push({ name, isObject, isStray, sortedAs: isObject ? segment : `${name}/` });
  }
  return entries.sort((one, other) => (one.sortedAs < other.sortedAs ? -1 : 1));
}

/** Through a link too: an operator may have put a folder elsewhere. */
async function isFolder(entry: Dirent, path: string): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  return (await orNullIfMissing(stat(path)))?.isDirectory() ?? false;
}
