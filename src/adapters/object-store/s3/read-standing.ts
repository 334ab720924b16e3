import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { GetObjectCommand, type HeadObjectCommandOutput } from '@aws-sdk/client-s3';

import type { StandingObject } from '../../../ports/object-store';
import type { Bucket, RawHead } from './digests';
import { isMissing, isTaken } from './s3-errors';

/** More is not read only to say what it is. */
const READ_BYTES_MAX = 2 ** 30;

/** Says what was in the way of a write. Other software puts objects without a digest: their bytes are read for it. */
export const readStanding = async (
  bucket: Bucket,
  key: string,
  head: RawHead | HeadObjectCommandOutput,
): Promise<StandingObject> => {
  if ('sha256' in head) return { sizeBytes: head.sizeBytes, sha256: head.sha256 };
  const sizeBytes = head.ContentLength ?? 0;
  if (sizeBytes > READ_BYTES_MAX) return { sizeBytes, sha256: null };
  return { sizeBytes, sha256: await readDigest(bucket, key, head.ETag) };
};

/** Null: it has been taken away, or was changed, since it was in the way. */
const readDigest = async (
  bucket: Bucket,
  key: string,
  etag: string | undefined,
): Promise<string | null> => {
  try {
    const { Body } = await bucket.client.send(
      new GetObjectCommand({
        Bucket: bucket.name,
        Key: key,
        ...(etag === undefined ? {} : { IfMatch: etag }),
      }),
    );
    const hash = createHash('sha256');
    await pipeline(Body as Readable, hash);
    return hash.digest('hex');
  } catch (error) {
    if (isMissing(error) || isTaken(error)) return null;
    throw error;
  }
};
