import {
  CompleteMultipartUploadCommand,
  ListPartsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';

import type {
  NamedPart,
  OpenPartUpload,
  PartsOutcome,
  PartUploads,
  StoredPart,
} from '../../../ports/part-uploads';
import { assertListPrefix, assertObjectKey } from '../object-key';
import { askHead, sealedMetadata, WRITE_ID, type Bucket } from './digests';
import { listUploads } from './list-uploads';
import { validity } from './presign';
import type { S3Clients } from './s3-client';
import { asStoreErrors, isMissing, isTaken, statusOf } from './s3-errors';
import { abortParts, beginParts, type PartsUpload } from './stage-parts';

interface S3PartsDeps {
  readonly clients: S3Clients;
  readonly bucket: Bucket;
  readonly encryption: object;
  readonly newId: () => string;
  readonly isConditional: () => Promise<boolean>;
}

/**
 * Uploads in parts on S3. The id that is handed out names the write too, `<write>:<id of the store>`: an object that is there
 * when its upload is gone is known by it as the one that was asked for.
 */
export const createS3Parts = (deps: S3PartsDeps): PartUploads => {
  const { bucket } = deps;
  return {
    begin: async (key, { contentType }) => {
      assertObjectKey(key);
      const writeId = deps.newId();
      const { encryption } = deps;
      const metadata = sealedMetadata(writeId);
      const begun = await asStoreErrors(() =>
        beginParts(bucket, key, { contentType, metadata, encryption }),
      );
      return `${writeId}:${begun.uploadId}`;
    },
    presign: async (key, uploadId, { number, sizeBytes, now, expiresAt }) => {
      assertObjectKey(key);
      const url = await getSignedUrl(
        deps.clients.outside,
        new UploadPartCommand({
          ...addressOf(bucket, toUpload(key, uploadId)),
          PartNumber: number,
          ContentLength: sizeBytes,
        }),
        {
          ...validity({ now, expiresAt }),
          signableHeaders: new Set(['content-length', 'host']),
        },
      );
      return { url, method: 'PUT', headers: {}, expiresAt };
    },
    list: async (key, uploadId) => {
      assertObjectKey(key);
      return asStoreErrors(() => readParts(bucket, toUpload(key, uploadId)));
    },
    complete: async (key, uploadId, parts) => {
      assertObjectKey(key);
      return asStoreErrors(async () =>
        complete(bucket, key, uploadId, parts, await deps.isConditional()),
      );
    },
    abort: async (key, uploadId) => {
      assertObjectKey(key);
      await asStoreErrors(async () => {
        if (uploadId !== undefined) {
          await abortParts(bucket, toUpload(key, uploadId));
          return;
        }
        for await (const open of listUploads(bucket, key)) {
          if (open.key === key) await abortParts(bucket, open);
        }
      });
    },
    listOpen: (prefix): AsyncIterable<OpenPartUpload> => {
      assertListPrefix(prefix);
      return listUploads(bucket, prefix);
    },
  };
};

const HANDED_OUT = /^([0-9a-f-]{36}):(.+)$/;

const toUpload = (key: string, uploadId: string): PartsUpload => ({
  key,
  uploadId: HANDED_OUT.exec(uploadId)?.[2] ?? uploadId,
});

const addressOf = (bucket: Bucket, { key, uploadId }: PartsUpload) => ({
  Bucket: bucket.name,
  Key: key,
  UploadId: uploadId,
});

const readParts = async (
  bucket: Bucket,
  upload: PartsUpload,
): Promise<readonly StoredPart[] | null> => {
  const parts: StoredPart[] = [];
  let marker: string | undefined;
  try {
    for (;;) {
      const page = await bucket.client.send(
        new ListPartsCommand({
          ...addressOf(bucket, upload),
          ...(marker === undefined ? {} : { PartNumberMarker: marker }),
        }),
      );
      for (const { PartNumber: number, Size: sizeBytes, ETag: etag } of page.Parts ?? []) {
        if (number === undefined || sizeBytes === undefined || etag === undefined) continue;
        parts.push({ number, sizeBytes, etag: quoted(etag) });
      }
      marker = page.NextPartNumberMarker;
      if (page.IsTruncated !== true || marker === undefined) return parts;
    }
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
};

/** Some stores list ETags without the quotes that their answers to PUT have. */
const quoted = (etag: string): string => (etag.startsWith('"') ? etag : `"${etag}"`);

const complete = async (
  bucket: Bucket,
  key: string,
  uploadId: string,
  parts: readonly NamedPart[],
  isConditional: boolean,
): Promise<PartsOutcome> => {
  // Without conditions a look just before is all there is.
  if (!isConditional) {
    const standing = await judgeStanding(bucket, key, uploadId);
    if (standing !== null) return standing;
  }
  const refused = await tryComplete(bucket, toUpload(key, uploadId), parts, isConditional);
  // Whatever was answered: an upload that is gone is well completed for some stores as long as any object stands at the key.
  const standing = await judgeStanding(bucket, key, uploadId);
  if (refused !== 'MISMATCH') return standing ?? 'GONE';
  const isOpen = (await readParts(bucket, toUpload(key, uploadId))) !== null;
  return standing === 'STORED' || !isOpen ? (standing ?? 'GONE') : 'MISMATCH';
};

const tryComplete = async (
  bucket: Bucket,
  upload: PartsUpload,
  parts: readonly NamedPart[],
  isConditional: boolean,
): Promise<'MISMATCH' | null> => {
  try {
    await bucket.client.send(
      new CompleteMultipartUploadCommand({
        ...addressOf(bucket, upload),
        MultipartUpload: {
          Parts: parts.map(({ number, etag }) => ({ PartNumber: number, ETag: etag })),
        },
        ...(isConditional ? { IfNoneMatch: '*' } : {}),
      }),
    );
  } catch (error) {
    // InvalidPart, InvalidPartOrder, EntityTooSmall: each store has its own words for the same.
    if (statusOf(error) === 400) return 'MISMATCH';
    if (!isMissing(error) && !isTaken(error)) throw error;
  }
  return null;
};

/** What stands at the key: the upload's own object, another one; null: nothing. */
const judgeStanding = async (
  bucket: Bucket,
  key: string,
  uploadId: string,
): Promise<Exclude<PartsOutcome, 'MISMATCH'> | null> => {
  const raw = await askHead(bucket, key);
  if (raw === null) return null;
  const writeId = HANDED_OUT.exec(uploadId)?.[1];
  if (writeId !== undefined && raw.Metadata?.[WRITE_ID] === writeId) return 'STORED';
  return (await readParts(bucket, toUpload(key, uploadId))) === null ? 'GONE' : 'TAKEN';
};
