import { createReadStream } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Clock } from '../../../ports/clock';
import type { OpenPartUpload, PartUploads, StoredPart } from '../../../ports/part-uploads';
import { codeOf } from '../error-code';
import { assertListPrefix, assertObjectKey } from '../object-key';
import { buildPartUrl } from '../signed-urls';
import type { Grant } from '../url-signature';
import {
  asStoreErrors,
  makeTemporaryDir,
  orNullIfMissing,
  readUploadId,
  type DiskLayout,
} from './object-files';
import {
  folderOfKey,
  makeUploadDir,
  placePart,
  readParts,
  readUpload,
  removeUpload,
  uploadDir,
  type PartFile,
} from './part-files';
import { assertExpected, receive, writeObject } from './write-object';

/** As S3 has it, so that what works here works there. */
const PART_BYTES_MIN = 5 * 2 ** 20;

interface DiskPartsOptions {
  readonly publicBaseUrl: string;
  readonly signingKey: Buffer;
  readonly clock: Clock;
}

export interface DiskParts extends PartUploads {
  /** Keeps a part and answers its ETag; null: the upload is not there. */
  write(
    grant: Omit<Extract<Grant, { method: 'PUT_PART' }>, 'method' | 'expiresAtMs'>,
    body: Readable,
  ): Promise<string | null>;
}

/** Uploads in parts on a folder; the contract is at the port. */
export const createDiskParts = (layout: DiskLayout, options: DiskPartsOptions): DiskParts => ({
  begin: (key, { contentType }) => {
    assertObjectKey(key);
    return asStoreErrors(() =>
      makeUploadDir(layout, { key, contentType, beganAt: options.clock.now() }),
    );
  },
  presign: (key, uploadId, { number, sizeBytes, expiresAt }) => {
    assertObjectKey(key);
    const url = buildPartUrl(options.publicBaseUrl, options.signingKey, {
      ...{ method: 'PUT_PART', key, uploadId, number, sizeBytes },
      expiresAtMs: expiresAt.getTime(),
    });
    return Promise.resolve({ url, method: 'PUT', headers: {}, expiresAt });
  },
  list: async (key, uploadId) => {
    assertObjectKey(key);
    const dir = uploadDir(layout, key, uploadId);
    const parts = dir === null ? null : await asStoreErrors(() => readParts(dir));
    return parts?.map(toStored) ?? null;
  },
  complete: (key, uploadId, named) => {
    assertObjectKey(key);
    return asStoreErrors(async () => {
      const dir = uploadDir(layout, key, uploadId);
      const upload = dir === null ? null : await readUpload(dir);
      if (dir === null || upload === null) {
        return (await readUploadId(layout, key)) === uploadId ? 'STORED' : 'GONE';
      }
      const parts = choose((await readParts(dir)) ?? [], named);
      if (parts === null) return 'MISMATCH';
      try {
        const { outcome } = await writeObject(layout, key, joined(parts), {
          contentType: upload.contentType,
          sizeBytesMax: Infinity,
          uploadId,
          now: () => options.clock.now(),
        });
        if (outcome === 'conflict') return 'TAKEN';
      } catch (error) {
        // A part was replaced meanwhile, so that the one that was named is not there; or another call has been faster.
        if (codeOf(error) !== 'ENOENT') throw error;
        return (await readUploadId(layout, key)) === uploadId ? 'STORED' : 'MISMATCH';
      }
      await removeUpload(layout, dir);
      return 'STORED';
    });
  },
  abort: (key, uploadId) => {
    assertObjectKey(key);
    return asStoreErrors(async () => {
      const all = (await orNullIfMissing(readdir(folderOfKey(layout, key)))) ?? [];
      for (const id of uploadId === undefined ? all : [uploadId]) {
        const dir = uploadDir(layout, key, id);
        if (dir !== null) await removeUpload(layout, dir);
      }
    });
  },
  listOpen: (prefix) => {
    assertListPrefix(prefix);
    return listOpen(layout, prefix);
  },
  write: ({ key, uploadId, number, sizeBytes }, body) =>
    asStoreErrors(async () => {
      const dir = uploadDir(layout, key, uploadId);
      if (dir === null || (await readUpload(dir)) === null) return null;
      const temporary = await makeTemporaryDir(layout);
      try {
        const file = join(temporary, 'incoming');
        const received = await receive(body, file, { sizeBytesMax: sizeBytes });
        assertExpected(received, { sizeBytes });
        const { sha256 } = received;
        return (await placePart(dir, file, { number, sha256 })) ? `"${sha256}"` : null;
      } finally {
        await rm(temporary, { recursive: true, force: true });
      }
    }),
});

const toStored = ({ number, sizeBytes, sha256 }: PartFile): StoredPart => ({
  number,
  sizeBytes,
  etag: `"${sha256}"`,
});

/** The named parts, in order; null where one is not there as named, or cannot stand before the last. */
const choose = (
  stored: readonly PartFile[],
  named: Parameters<PartUploads['complete']>[2],
): readonly PartFile[] | null => {
  const byNumber = new Map(stored.map((part) => [part.number, part]));
  const chosen = named.map(({ number, etag }) => {
    const part = byNumber.get(number);
    return part !== undefined && `"${part.sha256}"` === etag ? part : null;
  });
  const parts = chosen.filter((part) => part !== null);
  const inOrder = parts.every((part, index) => part.number > (parts[index - 1]?.number ?? 0));
  const fits = parts.slice(0, -1).every((part) => part.sizeBytes >= PART_BYTES_MIN);
  return parts.length > 0 && parts.length === chosen.length && inOrder && fits ? parts : null;
};

/** One file open at a time. */
const joined = (parts: readonly PartFile[]): Readable =>
  Readable.from(
    (async function* () {
      for (const { path } of parts) yield* createReadStream(path) as AsyncIterable<Buffer>;
    })(),
    { objectMode: false },
  );

async function* listOpen(layout: DiskLayout, prefix: string): AsyncGenerator<OpenPartUpload> {
  const folders = await asStoreErrors(() => orNullIfMissing(readdir(layout.partsDir)));
  for (const folder of folders ?? []) {
    const path = join(layout.partsDir, folder);
    // Null: gone meanwhile.
    for (const uploadId of (await asStoreErrors(() => orNullIfMissing(readdir(path)))) ?? []) {
      const upload = await asStoreErrors(() => readUpload(join(path, uploadId)));
      if (upload === null || !upload.key.startsWith(prefix)) continue;
      yield { key: upload.key, uploadId, beganAt: upload.beganAt };
    }
  }
}
