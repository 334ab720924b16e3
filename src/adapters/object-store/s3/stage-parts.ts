import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
  type CompletedPart,
} from '@aws-sdk/client-s3';

import type { Bucket } from './digests';
import type { BodyReader } from './receive-body';
import { isMissing } from './s3-errors';

/** With the reader's own: what a large put keeps in memory, five parts of 8 MiB. */
const IN_FLIGHT_MAX = 4;
/** One request copies no more than this. */
const COPY_PART_BYTES = 2 ** 30;

export interface PartsUpload {
  readonly key: string;
  readonly uploadId: string;
}

export const beginParts = async (
  bucket: Bucket,
  key: string,
  options: {
    readonly contentType: string;
    readonly metadata: Readonly<Record<string, string>>;
    readonly encryption: object;
  },
): Promise<PartsUpload> => {
  const begun = await bucket.client.send(
    new CreateMultipartUploadCommand({
      Bucket: bucket.name,
      Key: key,
      ContentType: options.contentType,
      Metadata: { ...options.metadata },
      ...options.encryption,
    }),
  );
  if (begun.UploadId === undefined) throw new Error('the store began an upload without an id');
  return { key, uploadId: begun.UploadId };
};

/** Sends what the reader still has, the given part first, several parts at a time. */
export const sendParts = async (
  bucket: Bucket,
  upload: PartsUpload,
  reader: BodyReader,
  first: Buffer,
): Promise<readonly CompletedPart[]> => {
  const parts: CompletedPart[] = [];
  const inFlight = new Set<Promise<void>>();
  const cancel = new AbortController();
  const send = async (partNumber: number, body: Buffer): Promise<void> => {
    const sent = await bucket.client.send(
      new UploadPartCommand({
        ...addressOf(bucket, upload),
        PartNumber: partNumber,
        Body: body,
        ContentLength: body.length,
      }),
      { abortSignal: cancel.signal },
    );
    parts.push({ PartNumber: partNumber, ETag: sent.ETag });
  };
  try {
    for (let number = 1, part = first; part.length > 0; number += 1) {
      const sending = send(number, part).finally(() => inFlight.delete(sending));
      // Awaited below; until then a failure must not count as unhandled.
      sending.catch(() => undefined);
      inFlight.add(sending);
      if (inFlight.size >= IN_FLIGHT_MAX) await Promise.race(inFlight);
      part = reader.isAtEnd ? Buffer.alloc(0) : await reader.nextPart();
    }
    await Promise.all(inFlight);
    return parts.sort((one, other) => (one.PartNumber ?? 0) - (other.PartNumber ?? 0));
  } catch (error) {
    cancel.abort();
    await Promise.allSettled(inFlight);
    throw error;
  }
};

/** Fills an upload from an object of the same bucket; the bytes stay within the store. */
export const copyParts = async (
  bucket: Bucket,
  upload: PartsUpload,
  from: { readonly key: string; readonly etag: string; readonly sizeBytes: number },
): Promise<readonly CompletedPart[]> => {
  const parts: CompletedPart[] = [];
  for (let start = 0; start < from.sizeBytes; start += COPY_PART_BYTES) {
    const end = Math.min(start + COPY_PART_BYTES, from.sizeBytes) - 1;
    const PartNumber = parts.length + 1;
    const copied = await bucket.client.send(
      new UploadPartCopyCommand({
        ...addressOf(bucket, upload),
        PartNumber,
        CopySource: `${bucket.name}/${from.key}`,
        CopySourceRange: `bytes=${start}-${end}`,
        CopySourceIfMatch: from.etag,
      }),
    );
    parts.push({ PartNumber, ETag: copied.CopyPartResult?.ETag });
  }
  return parts;
};

export const showParts = async (
  bucket: Bucket,
  upload: PartsUpload,
  parts: readonly CompletedPart[],
  condition: { readonly IfNoneMatch?: '*'; readonly IfMatch?: string },
): Promise<void> => {
  await bucket.client.send(
    new CompleteMultipartUploadCommand({
      ...addressOf(bucket, upload),
      MultipartUpload: { Parts: [...parts] },
      ...condition,
    }),
  );
};

/** What has been sent is given back; an upload that is gone already is as good as ended. */
export const abortParts = async (bucket: Bucket, upload: PartsUpload): Promise<void> => {
  try {
    await bucket.client.send(new AbortMultipartUploadCommand(addressOf(bucket, upload)));
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
};

const addressOf = (bucket: Bucket, { key, uploadId }: PartsUpload) => ({
  Bucket: bucket.name,
  Key: key,
  UploadId: uploadId,
});
