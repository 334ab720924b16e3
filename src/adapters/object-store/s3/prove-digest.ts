import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { GetObjectCommand } from '@aws-sdk/client-s3';

import {
  askHead,
  isSealed,
  readHead,
  WRITE_ID,
  writeSeal,
  type Bucket,
  type RawHead,
} from './digests';
import { isMissing, isTaken } from './s3-errors';

/**
 * The head of an object whose parts a client has sent: its bytes are read and hashed, and the digest is sealed. The seal has
 * the name of the upload, and an upload can be completed once, so that no other bytes can come under it.
 */
export const proveDigest = async (bucket: Bucket, key: string): Promise<RawHead | null> => {
  const known = await readHead(bucket, key);
  if (known !== null) return known;
  const raw = await askHead(bucket, key);
  const writeId = raw?.Metadata?.[WRITE_ID];
  if (raw === null || writeId === undefined || !isSealed(raw)) return null;
  const hash = createHash('sha256');
  try {
    const answer = await bucket.client.send(
      new GetObjectCommand({ Bucket: bucket.name, Key: key, IfMatch: raw.ETag }),
    );
    await pipeline(answer.Body as Readable, hash);
  } catch (error) {
    // Deleted meanwhile.
    if (isMissing(error) || isTaken(error)) return null;
    throw error;
  }
  await writeSeal(bucket, key, writeId, {
    sha256: hash.digest('hex'),
    sizeBytes: raw.ContentLength ?? 0,
    modifiedAtMs: raw.LastModified?.getTime() ?? 0,
  });
  return readHead(bucket, key);
};
