import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

import type { Evidence } from '../../../ports/verification';
import { listObjects, type OnStray } from './list-objects';
import { asStoreErrors, bytesPath, layoutOf, orNullIfMissing } from './object-files';

export interface BytesRead {
  readonly objects: number;
  readonly bytes: number;
}

/** A word after so much: enough to see that it goes on. */
const TOLD_EVERY_BYTES = 256 * 2 ** 20;
const TOLD_EVERY_OBJECTS = 1_000;

/**
 * What stands in the store, by the files themselves: the size is the file's, not the one noted beside it. One object at a time,
 * in pieces, so that memory grows neither with their number nor with their size.
 * @param onBytes given, all bytes are read for their checksum, and it is told now and then how far that has come
 * @param onStray told what is passed over, since it is no object of ours
 */
export async function* storedEvidence(
  root: string,
  onBytes: ((read: BytesRead) => void) | null,
  onStray?: OnStray,
): AsyncGenerator<Evidence> {
  const layout = layoutOf(root);
  let read = { objects: 0, bytes: 0 };
  let told = read;
  for await (const head of listObjects(layout, '', {}, onStray)) {
    const file = bytesPath(layout, head);
    // Null: deleted meanwhile, or the bytes are gone; either way nothing is stored there.
    const facts = await asStoreErrors(() => orNullIfMissing(stat(file)));
    if (facts === null) continue;
    const seen = { reference: head.key, at: head.modifiedAt };
    yield { kind: 'object', id: head.sha256, amount: String(facts.size), ...seen };
    if (onBytes === null) continue;
    const sha256 = await asStoreErrors(() => orNullIfMissing(checksumOf(file)));
    if (sha256 === null) continue;
    yield { kind: 'bytes', id: sha256, amount: null, ...seen };
    read = { objects: read.objects + 1, bytes: read.bytes + facts.size };
    if (isFar(read, told)) {
      told = read;
      onBytes(read);
    }
  }
  onBytes?.(read);
}

const isFar = (read: BytesRead, told: BytesRead): boolean =>
  read.bytes - told.bytes >= TOLD_EVERY_BYTES || read.objects - told.objects >= TOLD_EVERY_OBJECTS;

const checksumOf = async (file: string): Promise<string> => {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
};
