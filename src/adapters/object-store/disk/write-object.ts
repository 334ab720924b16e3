import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { crashpoint } from '../../../ports/crash-points';
import {
  ObjectMismatchError,
  ObjectStoreUnavailableError,
  ObjectTooLargeError,
  type ObjectHead,
  type ObjectStore,
  type PutResult,
  type ReceivedBytes,
} from '../../../ports/object-store';
import {
  bytesPath,
  makeTemporaryDir,
  objectDir,
  publishDir,
  readHead,
  renewObject,
  sealTemporaryDir,
  type DiskLayout,
} from './object-files';

export type PutOptions = Parameters<ObjectStore['putStream']>[2];

/** Nobody deletes an object so often in a row: what is still in the way then is none. */
const PLACE_ATTEMPTS = 20;
const INCOMING_NAME = 'incoming';

/** Streams the body to a temporary folder and publishes it; nothing is left when that fails. */
export async function writeObject(
  layout: DiskLayout,
  key: string,
  body: Readable,
  options: PutOptions & { readonly now: () => Date; readonly uploadId?: string },
): Promise<PutResult> {
  const temporaryDir = await makeTemporaryDir(layout).catch((error: unknown) => {
    body.destroy();
    throw error;
  });
  try {
    const received = await receive(body, join(temporaryDir, INCOMING_NAME), options);
    assertExpected(received, options.expected);
    await options.onReceived?.(received);
    await rename(join(temporaryDir, INCOMING_NAME), join(temporaryDir, received.sha256));
    const { contentType } = options;
    const head = { key, ...received, contentType, modifiedAt: options.now() };
    return await publish(layout, temporaryDir, head, options.uploadId);
  } finally {
    await rm(temporaryDir, { recursive: true, force: true });
  }
}

/** Copies on the server, by reference where the file system can. */
export async function copyObject(
  layout: DiskLayout,
  from: ObjectHead,
  toKey: string,
  now: Date,
): Promise<PutResult> {
  const temporaryDir = await makeTemporaryDir(layout);
  try {
    const path = join(temporaryDir, from.sha256);
    await copyFile(bytesPath(layout, from), path, constants.COPYFILE_FICLONE);
    const file = await open(path, 'r+');
    await file.sync().finally(() => file.close());
    return await publish(layout, temporaryDir, { ...from, key: toKey, modifiedAt: now });
  } finally {
    await rm(temporaryDir, { recursive: true, force: true });
  }
}

async function publish(
  layout: DiskLayout,
  temporaryDir: string,
  head: ObjectHead,
  uploadId?: string,
): Promise<PutResult> {
  const { key, sizeBytes, sha256 } = head;
  await sealTemporaryDir(temporaryDir, head, uploadId);
  crashpoint('store.after_bytes_before_publish');
  for (let attempt = 1; attempt <= PLACE_ATTEMPTS; attempt += 1) {
    if (await publishDir(layout, temporaryDir, key)) {
      return { sizeBytes, sha256, outcome: 'created' };
    }
    const standing = await readHead(layout, key);
    // Null: the object that was in the way has been deleted since; the place is free again.
    if (standing === null) continue;
    const equal = standing.sha256 === sha256 && standing.sizeBytes === sizeBytes;
    if (!equal) return { sizeBytes, sha256, outcome: 'conflict', standing: bytesOf(standing) };
    if (await renewObject(layout, standing, head.modifiedAt)) {
      return { sizeBytes, sha256, outcome: 'reused' };
    }
  }
  const place = objectDir(layout, key);
  throw new ObjectStoreUnavailableError(`the disk store failed: ${place} is taken by no object`);
}

const bytesOf = ({ sizeBytes, sha256 }: ObjectHead): ReceivedBytes => ({ sizeBytes, sha256 });

/** Streams a body into a new file, and hashes it on the way. */
export async function receive(
  body: Readable,
  path: string,
  options: Pick<PutOptions, 'sizeBytesMax' | 'signal'>,
): Promise<ReceivedBytes> {
  const file = await open(path, 'wx').catch((error: unknown) => {
    body.destroy();
    throw error;
  });
  const stop = (): void => {
    body.destroy(options.signal?.reason as Error);
  };
  if (options.signal?.aborted) stop();
  options.signal?.addEventListener('abort', stop, { once: true });
  try {
    const received = await drainInto(body, file, options.sizeBytesMax);
    await file.sync();
    return received;
  } finally {
    options.signal?.removeEventListener('abort', stop);
    await file.close();
  }
}

async function drainInto(
  body: Readable,
  file: FileHandle,
  sizeBytesMax: number,
): Promise<ReceivedBytes> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  // Leaving the loop by an error destroys the body, so that its source is not read any further.
  for await (const chunk of body) {
    const bytes = asBuffer(chunk);
    sizeBytes += bytes.length;
    if (sizeBytes > sizeBytesMax) {
      throw new ObjectTooLargeError(`the object has more than ${sizeBytesMax} bytes`);
    }
    hash.update(bytes);
    await writeFully(file, bytes);
  }
  return { sizeBytes, sha256: hash.digest('hex') };
}

/** A view where that will do: copying each chunk would cost as much as hashing it. */
function asBuffer(chunk: unknown): Buffer {
  if (Buffer.isBuffer(chunk)) return chunk;
  return chunk instanceof Uint8Array ? Buffer.from(chunk) : Buffer.from(String(chunk));
}

async function writeFully(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let offset = 0; offset < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, offset);
    offset += bytesWritten;
  }
}

export function assertExpected(received: ReceivedBytes, expected: PutOptions['expected']): void {
  const { sizeBytes, sha256 } = expected ?? {};
  if (sizeBytes !== undefined && sizeBytes !== received.sizeBytes) {
    throw new ObjectMismatchError(`got ${received.sizeBytes} bytes, expected ${sizeBytes}`);
  }
  if (sha256 !== undefined && sha256 !== received.sha256) {
    throw new ObjectMismatchError('the SHA-256 of the bytes is not the expected one');
  }
}
