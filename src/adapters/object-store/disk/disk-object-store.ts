import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Clock } from '../../../ports/clock';
import {
  ObjectMismatchError,
  type ByteRange,
  type ListedObject,
  type ObjectHead,
  type ObjectStore,
  type PutResult,
  type UploadTicket,
} from '../../../ports/object-store';
import { listObjects, type OnStray } from './list-objects';
import {
  asStoreErrors,
  bytesPath,
  layoutOf,
  orNullIfMissing,
  readHead,
  removeObject,
  removeObjectIfOlder,
  sweepTemporaryDirs,
  type DiskLayout,
} from './object-files';
import { assertFolderPrefix, assertListPrefix, assertObjectKey } from '../object-key';
import { buildGetUrl, buildPrefixUrl, buildPutUrl } from '../signed-urls';
import { createDiskParts, type DiskParts } from './part-uploads';
import { copyObject, writeObject, type PutOptions } from './write-object';

export interface DiskObjectStoreOptions {
  /** A folder on one file system; made when missing. */
  readonly root: string;
  /** Where `createDiskStoreRoutes` is mounted, as clients reach it, e.g. `https://host/objects`. */
  readonly publicBaseUrl: string;
  /** At least 32 random bytes, the same in every process that signs or serves. */
  readonly signingKey: Buffer;
  readonly clock: Clock;
  /** Told what a listing passes over, since it is no object of ours. */
  readonly onStray?: OnStray;
}

export function createDiskObjectStore(options: DiskObjectStoreOptions): DiskObjectStore {
  if (options.signingKey.length < 32) {
    throw new RangeError('the signing key of the disk store has at least 32 bytes');
  }
  return new DiskObjectStore(options);
}

/** The object store on a folder; the contract is at the port. */
export class DiskObjectStore implements ObjectStore {
  private readonly layout: DiskLayout;
  readonly parts: DiskParts;

  constructor(readonly options: DiskObjectStoreOptions) {
    this.layout = layoutOf(options.root);
    this.parts = createDiskParts(this.layout, options);
  }

  async putStream(key: string, body: Readable, options: PutOptions): Promise<PutResult> {
    assertObjectKey(key);
    const now = (): Date => this.options.clock.now();
    return asStoreErrors(() => writeObject(this.layout, key, body, { ...options, now }));
  }

  /** @throws RangeError when the range does not lie within the object. */
  async getStream(
    key: string,
    range?: ByteRange,
  ): Promise<{ head: ObjectHead; body: Readable } | null> {
    assertObjectKey(key);
    return asStoreErrors(async () => {
      for (;;) {
        const head = await readHead(this.layout, key);
        if (head === null) return null;
        if (range) assertWithin(range, head);
        // The file is named by its digest, so bytes and head belong together; missing means that
        // the object was deleted, or replaced after that, since the head was read.
        const file = await orNullIfMissing(open(bytesPath(this.layout, head), 'r'));
        if (file === null) continue;
        if (head.sizeBytes === 0) {
          await file.close();
          return { head, body: Readable.from([]) };
        }
        const body = file.createReadStream(range ? { start: range.start, end: range.end } : {});
        return { head, body };
      }
    });
  }

  async head(key: string): Promise<ObjectHead | null> {
    assertObjectKey(key);
    return asStoreErrors(() => readHead(this.layout, key));
  }

  /** All bytes go through this store, so that it knows the digest of each object. */
  measure(key: string): Promise<ListedObject | null> {
    return this.head(key);
  }

  prove(key: string): Promise<ObjectHead | null> {
    return this.head(key);
  }

  /** @throws ObjectMismatchError when there is nothing at `fromKey`. */
  async copy(fromKey: string, toKey: string): Promise<PutResult> {
    assertObjectKey(fromKey);
    assertObjectKey(toKey);
    return asStoreErrors(async () => {
      const from = await readHead(this.layout, fromKey);
      if (from === null) throw new ObjectMismatchError(`there is no object at ${fromKey}`);
      return copyObject(this.layout, from, toKey, this.options.clock.now());
    });
  }

  async delete(key: string): Promise<void> {
    assertObjectKey(key);
    await asStoreErrors(() => removeObject(this.layout, key));
  }

  async deleteIfOlder(key: string, modifiedBefore: Date): Promise<boolean> {
    assertObjectKey(key);
    return asStoreErrors(() => removeObjectIfOlder(this.layout, key, modifiedBefore));
  }

  list(
    prefix: string,
    options: Parameters<ObjectStore['list']>[1] = {},
  ): AsyncIterable<ListedObject> {
    assertListPrefix(prefix);
    return listObjects(this.layout, prefix, options, this.options.onStray);
  }

  async presignPut(
    key: string,
    options: Parameters<ObjectStore['presignPut']>[1],
  ): Promise<UploadTicket> {
    assertObjectKey(key);
    const { sizeBytes, sha256, contentType, expiresAt } = options;
    const { publicBaseUrl, signingKey } = this.options;
    const url = buildPutUrl(publicBaseUrl, signingKey, {
      ...{ method: 'PUT', key, sizeBytes, sha256, contentType, expiresAtMs: expiresAt.getTime() },
    });
    // The length is not listed: a browser sends it by itself and forbids setting it.
    return { url, method: 'PUT', headers: { 'content-type': contentType }, expiresAt };
  }

  async presignGet(
    key: string,
    options: Parameters<ObjectStore['presignGet']>[1],
  ): Promise<string> {
    assertObjectKey(key);
    return buildGetUrl(this.options.publicBaseUrl, this.options.signingKey, {
      method: 'GET',
      key,
      expiresAtMs: options.expiresAt.getTime(),
      downloadName: options.downloadName ?? null,
    });
  }

  /** @throws InvalidObjectKeyError unless the prefix ends with `/`. */
  async presignGetPrefix(
    prefix: string,
    options: Parameters<ObjectStore['presignGetPrefix']>[1],
  ): Promise<string> {
    assertFolderPrefix(prefix);
    return buildPrefixUrl(this.options.publicBaseUrl, this.options.signingKey, {
      method: 'GET_PREFIX',
      prefix,
      expiresAtMs: options.expiresAt.getTime(),
    });
  }

  /** Removes what crashed writers left, last touched before `olderThan`; answers how many. */
  sweepTemporary(olderThan: Date): Promise<number> {
    return asStoreErrors(() => sweepTemporaryDirs(this.layout, olderThan));
  }
}

function assertWithin(range: ByteRange, head: ObjectHead): void {
  const valid = range.start >= 0 && range.start <= range.end && range.end < head.sizeBytes;
  if (!valid) {
    throw new RangeError(`bytes ${range.start}-${range.end} of ${head.sizeBytes} do not exist`);
  }
}
