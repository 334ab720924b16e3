import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { codeOf } from '../error-code';
import { makeTemporaryDir, orNullIfMissing, syncDir, type DiskLayout } from './object-files';

/**
 * Where uploads in parts lie: each is one folder, `parts/<digest of the key>/<id>/`, with `upload.json` and each part in a file
 * named by its number and its SHA-256. A part is written elsewhere and renamed into the folder, so that what is there is whole.
 */
const UPLOAD_NAME = 'upload.json';
const UPLOAD = z.object({ key: z.string(), contentType: z.string(), beganAt: z.iso.datetime() });
const UPLOAD_ID = /^run-[A-Za-z0-9]{6}$/;
const PART_NAME = /^(\d{1,5})-([0-9a-f]{64})$/;
const BEGIN_ATTEMPTS = 20;

export interface PartFile {
  readonly number: number;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly path: string;
  readonly writtenMs: number;
}

export interface UploadFile {
  readonly key: string;
  readonly contentType: string;
  readonly beganAt: Date;
}

/** All uploads of a key. A key is too long for a name, its digest is not. */
export const folderOfKey = (layout: DiskLayout, key: string): string =>
  join(layout.partsDir, createHash('sha256').update(key).digest('hex'));

/** Null for what is no id that this store has given. */
export const uploadDir = (layout: DiskLayout, key: string, uploadId: string): string | null =>
  UPLOAD_ID.test(uploadId) ? join(folderOfKey(layout, key), uploadId) : null;

/** Answers the id of the new upload. */
export const makeUploadDir = async (layout: DiskLayout, upload: UploadFile): Promise<string> => {
  for (let attempt = 1; ; attempt += 1) {
    const temporary = await makeTemporaryDir(layout);
    try {
      const file = await open(join(temporary, UPLOAD_NAME), 'wx');
      try {
        await file.writeFile(JSON.stringify({ ...upload, beganAt: upload.beganAt.toISOString() }));
        await file.sync();
      } finally {
        await file.close();
      }
      const folder = folderOfKey(layout, upload.key);
      await mkdir(folder, { recursive: true });
      const target = join(folder, basename(temporary));
      await rename(temporary, target);
      await syncDir(folder);
      return basename(target);
    } catch (error) {
      // Another upload has this very name, or the end of the last one has just taken the folder of the key away.
      const again = ['EEXIST', 'ENOTEMPTY', 'ENOENT'].includes(codeOf(error));
      if (!again || attempt === BEGIN_ATTEMPTS) throw error;
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
  }
};

export const readUpload = async (dir: string): Promise<UploadFile | null> => {
  const text = await orNullIfMissing(readFile(join(dir, UPLOAD_NAME), 'utf8'));
  if (text === null) return null;
  const { beganAt, ...rest } = UPLOAD.parse(JSON.parse(text));
  return { ...rest, beganAt: new Date(beganAt) };
};

/** In order of number, the latest of each; null where the upload is not there. */
export const readParts = async (dir: string): Promise<readonly PartFile[] | null> => {
  const names = await orNullIfMissing(readdir(dir));
  if (names === null) return null;
  const latest = new Map<number, PartFile>();
  for (const name of names) {
    const part = await readPart(dir, name);
    const other = part === null ? undefined : latest.get(part.number);
    if (part !== null && (other === undefined || isLater(part, other))) {
      latest.set(part.number, part);
    }
  }
  return [...latest.values()].sort((one, other) => one.number - other.number);
};

const readPart = async (dir: string, name: string): Promise<PartFile | null> => {
  const [, number, sha256] = PART_NAME.exec(name) ?? [];
  if (number === undefined || sha256 === undefined) return null;
  const path = join(dir, name);
  const found = await orNullIfMissing(stat(path));
  if (found === null) return null;
  const { size: sizeBytes, mtimeMs: writtenMs } = found;
  return { number: Number(number), sha256, path, sizeBytes, writtenMs };
};

/** One order for all, so that of two that replace each other exactly one stays. */
const isLater = (one: PartFile, other: PartFile): boolean =>
  one.writtenMs === other.writtenMs ? one.sha256 > other.sha256 : one.writtenMs > other.writtenMs;

/** Moves a whole part into its upload, in the place of the one before; false: there is no such upload. */
export const placePart = async (
  dir: string,
  file: string,
  part: { readonly number: number; readonly sha256: string },
): Promise<boolean> => {
  const name = `${part.number}-${part.sha256}`;
  if ((await orNullIfMissing(rename(file, join(dir, name)).then(() => true))) === null) {
    return false;
  }
  const placed = await readPart(dir, name);
  const names = await orNullIfMissing(readdir(dir));
  // Null: the upload came to its end right now, and took the part with it.
  if (placed === null || names === null) return false;
  await syncDir(dir);
  for (const each of names.filter((other) => other.startsWith(`${part.number}-`))) {
    const other = each === name ? null : await readPart(dir, each);
    if (other !== null && isLater(placed, other)) await rm(other.path, { force: true });
  }
  return true;
};

/** Takes an upload away at once, then removes its files. */
export const removeUpload = async (layout: DiskLayout, dir: string): Promise<void> => {
  const grave = await makeTemporaryDir(layout);
  try {
    await orNullIfMissing(rename(dir, join(grave, 'upload')));
    await rmdir(dirname(dir)).catch((error: unknown) => {
      // Another upload of the key is there, or this was asked before.
      if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(codeOf(error))) throw error;
    });
  } finally {
    await rm(grave, { recursive: true, force: true });
  }
};
