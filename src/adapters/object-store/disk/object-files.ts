import {
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  utimes,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { ObjectStoreUnavailableError, type ObjectHead } from '../../../ports/object-store';
import { codeOf } from '../error-code';

/**
 * Where objects lie. Each object is one folder, `objects/<key>~o/`, which holds the bytes in a file
 * named by their SHA-256 and `meta.json`. `~` cannot occur in a key, so an object `a` and an object
 * `a/b` do not meet, and metadata never shows up in a listing.
 *
 * A folder is filled under `tmp/` and then renamed into place. The rename is what publishes: it is
 * atomic, brings bytes and metadata at once, and fails when the place is taken, so that an object
 * is never overwritten.
 */
export const OBJECT_MARK = '~o';
const META_NAME = 'meta.json';
const PUBLISH_ATTEMPTS = 20;

const META = z.object({
  sizeBytes: z.number().int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  contentType: z.string(),
  modifiedAt: z.iso.datetime(),
  /** Of an object that was put together of parts. */
  uploadId: z.string().optional(),
});

export interface DiskLayout {
  readonly objectsDir: string;
  readonly temporaryDir: string;
  /** Uploads in parts that are under way. */
  readonly partsDir: string;
}

export function layoutOf(root: string): DiskLayout {
  return {
    objectsDir: join(root, 'objects'),
    temporaryDir: join(root, 'tmp'),
    partsDir: join(root, 'parts'),
  };
}

export function objectDir(layout: DiskLayout, key: string): string {
  return join(layout.objectsDir, `${key}${OBJECT_MARK}`);
}

export async function readHead(layout: DiskLayout, key: string): Promise<ObjectHead | null> {
  const meta = await readMeta(layout, key);
  if (meta === null) return null;
  const { uploadId: _, ...head } = meta;
  return { key, ...head, modifiedAt: new Date(meta.modifiedAt) };
}

/** Of which upload in parts an object is; null: of none, or there is no object. */
export async function readUploadId(layout: DiskLayout, key: string): Promise<string | null> {
  return (await readMeta(layout, key))?.uploadId ?? null;
}

async function readMeta(layout: DiskLayout, key: string): Promise<z.infer<typeof META> | null> {
  const text = await orNullIfMissing(readFile(join(objectDir(layout, key), META_NAME), 'utf8'));
  return text === null ? null : META.parse(JSON.parse(text));
}

export function bytesPath(layout: DiskLayout, head: ObjectHead): string {
  return join(objectDir(layout, head.key), head.sha256);
}

/** A fresh folder under `tmp/`; whoever makes it removes it or publishes it. */
export async function makeTemporaryDir(layout: DiskLayout): Promise<string> {
  await mkdir(layout.temporaryDir, { recursive: true });
  return mkdtemp(join(layout.temporaryDir, 'run-'));
}

/** Notes at the bytes when they were last put; false: they are there no longer. */
export async function renewObject(
  layout: DiskLayout,
  standing: ObjectHead,
  now: Date,
): Promise<boolean> {
  // By the name of the bytes, so that another object that has come to the key meanwhile is not meant.
  const renewed = utimes(bytesPath(layout, standing), now, now).then(() => true);
  return (await orNullIfMissing(renewed)) !== null;
}

/** Writes the metadata beside the bytes and forces both to the disk. */
export async function sealTemporaryDir(
  path: string,
  head: ObjectHead,
  uploadId?: string,
): Promise<void> {
  const { sizeBytes, sha256, contentType } = head;
  const modifiedAt = head.modifiedAt.toISOString();
  const meta = { sizeBytes, sha256, contentType, modifiedAt, uploadId };
  const file = await open(join(path, META_NAME), 'wx');
  try {
    await file.writeFile(JSON.stringify(meta));
    await file.sync();
  } finally {
    await file.close();
  }
  await utimes(join(path, sha256), head.modifiedAt, head.modifiedAt);
  await syncDir(path);
}

/** True when the folder now stands at the key; false when another object was there first. */
export async function publishDir(
  layout: DiskLayout,
  temporaryDir: string,
  key: string,
): Promise<boolean> {
  const target = objectDir(layout, key);
  for (let attempt = 1; ; attempt += 1) {
    try {
      await mkdir(dirname(target), { recursive: true });
      await rename(temporaryDir, target);
      await syncPlace(target);
      return true;
    } catch (error) {
      const code = codeOf(error);
      if (code === 'EEXIST' || code === 'ENOTEMPTY') return false;
      // A delete has just pruned an empty parent folder, maybe while it was being made: it is made again.
      if (code !== 'ENOENT' || attempt === PUBLISH_ATTEMPTS) throw error;
    }
  }
}

/** Takes the object away at once, then removes its files and the folders left empty. */
export async function removeObject(layout: DiskLayout, key: string): Promise<void> {
  const target = objectDir(layout, key);
  const grave = await makeTemporaryDir(layout);
  try {
    const moved = await orNullIfMissing(rename(target, join(grave, 'object')).then(() => true));
    if (moved === null) return;
    await syncPlace(target);
  } finally {
    await rm(grave, { recursive: true, force: true });
  }
  await pruneEmptyParents(layout, dirname(target));
}

/**
 * Takes an object away that was last put before a time. Whoever puts it again meanwhile either is seen in what was taken
 * away, which then comes back, or finds the place free and publishes anew.
 */
export async function removeObjectIfOlder(
  layout: DiskLayout,
  key: string,
  before: Date,
): Promise<boolean> {
  const target = objectDir(layout, key);
  if (!(await isOlder(target, before))) return false;
  const grave = await makeTemporaryDir(layout);
  const taken = join(grave, 'object');
  try {
    const moved = await orNullIfMissing(rename(target, taken).then(() => true));
    if (moved === null) return false;
    if (!(await isOlder(taken, before))) {
      // False: an object has been put there already, and this one is not missed.
      await publishDir(layout, taken, key);
      return false;
    }
    await syncPlace(target);
  } finally {
    await rm(grave, { recursive: true, force: true });
  }
  await pruneEmptyParents(layout, dirname(target));
  return true;
}

/** Of the folder of an object; false too for one that is not there. */
async function isOlder(path: string, before: Date): Promise<boolean> {
  const text = await orNullIfMissing(readFile(join(path, META_NAME), 'utf8'));
  if (text === null) return false;
  const { sha256, modifiedAt } = META.parse(JSON.parse(text));
  const bytes = await orNullIfMissing(stat(join(path, sha256)));
  return bytes !== null && bytes.mtime < before && new Date(modifiedAt) < before;
}

async function pruneEmptyParents(layout: DiskLayout, from: string): Promise<void> {
  for (let path = from; path.startsWith(`${layout.objectsDir}/`); path = dirname(path)) {
    try {
      await rmdir(path);
    } catch (error) {
      if (['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(codeOf(error))) return;
      throw error;
    }
  }
}

/** Removes what a crash left under `tmp/`, if it was last touched before `olderThan`. */
export async function sweepTemporaryDirs(layout: DiskLayout, olderThan: Date): Promise<number> {
  const names = (await orNullIfMissing(readdir(layout.temporaryDir))) ?? [];
  let removed = 0;
  for (const name of names) {
    const path = join(layout.temporaryDir, name);
    const found = await orNullIfMissing(stat(path));
    if (found === null || found.mtime >= olderThan) continue;
    await rm(path, { recursive: true, force: true });
    removed += 1;
  }
  return removed;
}

export async function orNullIfMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

const FILE_SYSTEM_CODES = new Set([
  ...['EACCES', 'EBUSY', 'EDQUOT', 'EIO', 'EISDIR', 'EMFILE', 'ENFILE', 'ENODEV', 'ENOENT'],
  ...['ENOSPC', 'ENOTDIR', 'ENXIO', 'EPERM', 'EROFS', 'ESTALE'],
]);

/** Turns what the file system throws (full, read-only, unmounted) into the error of the port. */
export async function asStoreErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // Only what a file system says; a body whose connection was reset keeps its own error.
    if (!FILE_SYSTEM_CODES.has(codeOf(error))) throw error;
    throw new ObjectStoreUnavailableError(
      `the disk store failed: ${codeOf(error)}${await placeOf(error)}`,
      { cause: error },
    );
  }
}

/** Where it failed; of a file that stands where a folder is wanted that file, since it must be moved away. */
async function placeOf(error: unknown): Promise<string> {
  const { path, dest } = error as { readonly path?: unknown; readonly dest?: unknown };
  const place = dest ?? path;
  if (typeof place !== 'string') return '';
  if (codeOf(error) === 'ENOTDIR') {
    for (let above = place; above !== dirname(above); above = dirname(above)) {
      const found = await stat(above).catch(() => null);
      if (found?.isFile()) return ` at ${above}, a file where a folder belongs`;
    }
  }
  return ` at ${place}`;
}

/** Of what was moved to a place or away from it. A folder that has been pruned since holds no entry any more to be kept. */
async function syncPlace(path: string): Promise<void> {
  await orNullIfMissing(syncDir(dirname(path)));
}

export async function syncDir(path: string): Promise<void> {
  const dir = await open(path, 'r');
  try {
    await dir.sync();
  } finally {
    await dir.close();
  }
}
