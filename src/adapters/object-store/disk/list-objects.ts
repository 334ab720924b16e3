import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectHead } from '../../../ports/object-store';
import {
  asStoreErrors,
  OBJECT_MARK,
  orNullIfMissing,
  readHead,
  type DiskLayout,
} from './object-files';

interface Entry {
  readonly name: string;
  readonly isObject: boolean;
  /** What the key goes on with: a folder sorts as its name with the slash that follows it. */
  readonly sortedAs: string;
}

/**
 * Yields the objects under a prefix in ascending order of key, one folder in memory at a time. Folders that lie before the
 * start are not read.
 */
export async function* listObjects(
  layout: DiskLayout,
  prefix: string,
  {
    startAfter = '',
    limit = Infinity,
  }: { readonly startAfter?: string; readonly limit?: number } = {},
): AsyncGenerator<ObjectHead> {
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  let left = limit;
  if (left <= 0) return;
  for await (const head of walk(layout, folder, prefix, startAfter)) {
    yield head;
    left -= 1;
    if (left <= 0) return;
  }
}

async function* walk(
  layout: DiskLayout,
  folder: string,
  prefix: string,
  startAfter: string,
): AsyncGenerator<ObjectHead> {
  const path = join(layout.objectsDir, folder);
  for (const entry of await asStoreErrors(() => readEntries(path))) {
    const key = `${folder}${entry.sortedAs}`;
    const within = key.startsWith(prefix);
    // A folder may lie before the start and yet hold what comes after it.
    if (key <= startAfter && (entry.isObject || !startAfter.startsWith(key))) continue;
    if (entry.isObject) {
      const head = within ? await asStoreErrors(() => readHead(layout, key)) : null;
      // Null: deleted while the listing was under way.
      if (head !== null) yield head;
    } else if (within || prefix.startsWith(key)) {
      yield* walk(layout, key, prefix, startAfter);
    }
  }
}

async function readEntries(path: string): Promise<Entry[]> {
  const names = (await orNullIfMissing(readdir(path))) ?? [];
  const entries = names.map((name): Entry => {
    const isObject = name.endsWith(OBJECT_MARK);
    const sortedAs = isObject ? name.slice(0, -OBJECT_MARK.length) : `${name}/`;
    return { name, isObject, sortedAs };
  });
  return entries.sort((one, other) => (one.sortedAs < other.sortedAs ? -1 : 1));
}
