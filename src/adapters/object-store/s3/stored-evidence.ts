import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';

import type { ObjectStore } from '../../../ports/object-store';
import type { Evidence } from '../../../ports/verification';

/** A word after so many objects: enough to see that it goes on. */
const TOLD_EVERY_OBJECTS = 100;

/**
 * What stands in the bucket: the size by the store itself, the digest by what was noted at the write. One object at a time, so
 * that memory grows neither with their number nor with their size.
 * @param onBytes given, all bytes are read for their checksum, and it is told now and then how far that has come
 */
export async function* storedEvidence(
  store: Pick<ObjectStore, 'list' | 'head' | 'getStream'>,
  onBytes: ((read: { readonly objects: number; readonly bytes: number }) => void) | null,
): AsyncGenerator<Evidence> {
  let read = { objects: 0, bytes: 0 };
  for await (const { key } of store.list('')) {
    // Null: deleted meanwhile, or its bytes have not been found right yet.
    const head = await store.head(key);
    if (head === null) continue;
    const seen = { reference: key, at: head.modifiedAt };
    yield { kind: 'object', id: head.sha256, amount: String(head.sizeBytes), ...seen };
    if (onBytes === null) continue;
    const found = await store.getStream(key);
    if (found === null) continue;
    const hash = createHash('sha256');
    await pipeline(found.body, hash);
    yield { kind: 'bytes', id: hash.digest('hex'), amount: null, ...seen };
    read = { objects: read.objects + 1, bytes: read.bytes + head.sizeBytes };
    if (read.objects % TOLD_EVERY_OBJECTS === 0) onBytes(read);
  }
  onBytes?.(read);
}
