import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type GetObjectCommandOutput,
  type HeadObjectCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { z } from 'zod';

import type { ObjectHead } from '../../../ports/object-store';
import { isMissing } from './s3-errors';

/** Keys of the product have no `~`: what the adapter keeps for itself never meets them, and sorts behind all of them. */
export const OWN_PREFIX = '~aivedio/';
export const SEALS_PREFIX = `${OWN_PREFIX}seals/`;

/** Its length told, else the SDK takes it for a stream. */
export const EMPTY = { Body: Buffer.alloc(0), ContentLength: 0 };

export interface Bucket {
  readonly client: S3Client;
  readonly name: string;
}

/** A head as the store knows it: with what conditional requests and renewed seals need. */
export interface RawHead extends ObjectHead {
  readonly etag: string;
  /** Which seal tells its digest; null where it needs none. */
  readonly sealId: string | null;
}

/**
 * Where an object's SHA-256 is: in its metadata, where it was known before the first byte was sent; in the store's own
 * checksum, where a client sent one; else in a seal. A seal is a small object of its own, named by the write, since metadata
 * must be given when a multipart upload begins and the digest is known when it ends. It is written before the object appears,
 * or, when a client sent the parts, after the bytes were read and found right. An object without its seal is not there.
 */
const SEAL = z.object({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  sizeBytes: z.number().int().nonnegative(),
  modifiedAtMs: z.number().int(),
});
export type Seal = z.infer<typeof SEAL>;

export const WRITE_ID = 'aivedio-write';
const SHA256 = 'sha256';
const WRITTEN_AT = 'aivedio-at';
const SEALED = 'aivedio-sealed';

/** Metadata of an object whose digest is known now. */
export const knownMetadata = (writeId: string, sha256: string, now: Date) => ({
  [WRITE_ID]: writeId,
  [SHA256]: sha256,
  [WRITTEN_AT]: String(now.getTime()),
});

/** Metadata of an object whose digest its seal will tell. */
export const sealedMetadata = (writeId: string) => ({ [WRITE_ID]: writeId, [SEALED]: '1' });

/** Whether a seal tells, or will tell, its digest. */
export const isSealed = (answer: HeadObjectCommandOutput): boolean =>
  answer.Metadata?.[SEALED] !== undefined;

export const sealKey = (key: string, writeId: string): string => `${SEALS_PREFIX}${key}/${writeId}`;

export const writeSeal = async (
  bucket: Bucket,
  key: string,
  writeId: string,
  seal: Seal,
): Promise<void> => {
  await bucket.client.send(
    new PutObjectCommand({
      Bucket: bucket.name,
      Key: sealKey(key, writeId),
      Body: JSON.stringify(seal),
      ContentType: 'application/json',
    }),
  );
};

export const removeSeal = async (bucket: Bucket, key: string, writeId: string): Promise<void> => {
  await bucket.client.send(
    new DeleteObjectCommand({ Bucket: bucket.name, Key: sealKey(key, writeId) }),
  );
};

const readSeal = async (bucket: Bucket, key: string, writeId: string): Promise<Seal | null> => {
  try {
    const found = await bucket.client.send(
      new GetObjectCommand({ Bucket: bucket.name, Key: sealKey(key, writeId) }),
    );
    return SEAL.parse(JSON.parse((await found.Body?.transformToString()) ?? ''));
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
};

/** Null: nothing is there, or nothing whose bytes are known yet. */
export const readHead = async (bucket: Bucket, key: string): Promise<RawHead | null> => {
  const answer = await askHead(bucket, key);
  return answer === null ? null : toHead(bucket, key, answer);
};

export const askHead = async (
  bucket: Bucket,
  key: string,
): Promise<HeadObjectCommandOutput | null> => {
  try {
    return await bucket.client.send(
      new HeadObjectCommand({ Bucket: bucket.name, Key: key, ChecksumMode: 'ENABLED' }),
    );
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
};

/** From the answer to HEAD or to GET, which name the same facts. */
export const toHead = async (
  bucket: Bucket,
  key: string,
  answer: HeadObjectCommandOutput | GetObjectCommandOutput,
): Promise<RawHead | null> => {
  const metadata = answer.Metadata ?? {};
  const writeId = metadata[WRITE_ID] ?? null;
  const sizeBytes = sizeOf(answer);
  const common = {
    key,
    sizeBytes,
    contentType: answer.ContentType ?? 'application/octet-stream',
    etag: answer.ETag ?? '',
    sealId: metadata[SEALED] === undefined ? null : writeId,
  };
  const changedMs = answer.LastModified?.getTime() ?? 0;
  if (common.sealId !== null) {
    const seal = await readSeal(bucket, key, common.sealId);
    if (seal === null || seal.sizeBytes !== sizeBytes) return null;
    const modifiedAt = new Date(Math.max(changedMs, seal.modifiedAtMs));
    return { ...common, sha256: seal.sha256, modifiedAt };
  }
  const sha256 = metadata[SHA256] ?? checksumOf(answer);
  const modifiedAt = new Date(Math.max(changedMs, Number(metadata[WRITTEN_AT] ?? 0)));
  return sha256 === null ? null : { ...common, sha256, modifiedAt };
};

/** Of the whole object, also where the answer holds a range of it. */
const sizeOf = (answer: HeadObjectCommandOutput | GetObjectCommandOutput): number =>
  Number(/\/(\d+)$/.exec(answer.ContentRange ?? '')?.[1] ?? answer.ContentLength ?? 0);

/** A checksum of checksums (`…-3`) says nothing of the bytes as a whole. */
const checksumOf = (answer: HeadObjectCommandOutput | GetObjectCommandOutput): string | null => {
  const text = answer.ChecksumSHA256;
  return text === undefined || text.includes('-')
    ? null
    : Buffer.from(text, 'base64').toString('hex');
};

export const toObjectHead = ({ etag: _, sealId: __, ...head }: RawHead): ObjectHead => head;
