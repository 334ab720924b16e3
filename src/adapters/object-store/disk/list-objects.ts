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

/** Yields the objects under a prefix in ascending order of key, one folder in memory at a time. */
export async function* listObjects(layout: DiskLayout, prefix: string): AsyncGenerator<ObjectHead> {
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  yield* walk(layout, folder, prefix);
}

async function* walk(
  layout: DiskLayout,
  folder: string,
  prefix: string,
): AsyncGenerator<ObjectHead> {
  const path = join(layout.objectsDir, folder);
  for (const entry of await asStoreErrors(() => readEntries(path))) {
    const key = `${folder}${entry.sortedAs}`;
    const within = key.startsWith(prefix);
    if (entry.isObject) {
      const head = within ? await asStoreErrors(() => readHead(layout, key)) : null;
      // Null: deleted while the listing was under way.
      if (head !== null) yield head;
    } else if (within || prefix.startsWith(key)) {
      yield* walk(layout, key, prefix);
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
