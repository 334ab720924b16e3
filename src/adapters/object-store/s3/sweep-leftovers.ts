import { AbortMultipartUploadCommand, ListMultipartUploadsCommand } from '@aws-sdk/client-s3';

import { removeKey } from './deletion-marks';
import { OWN_PREFIX, readHead, SEALS_PREFIX, type Bucket } from './digests';
import { listKeys } from './list-keys';
import { isMissing } from './s3-errors';

/**
 * What no write needs any more: multipart uploads that nobody ended (also where the store has no lifecycle rules), seals
 * whose object is another by now, marks and probes. Only what was last touched before `olderThan`; answers how many.
 */
export const sweepLeftovers = async (bucket: Bucket, olderThan: Date): Promise<number> => {
  let removed = await abortOldUploads(bucket, olderThan);
  for await (const { key, modifiedAt } of listKeys(bucket, OWN_PREFIX)) {
    if (modifiedAt >= olderThan || (await isNeeded(bucket, key))) continue;
    await removeKey(bucket, key);
    removed += 1;
  }
  return removed;
};

/** A seal is needed as long as its object is the one that it was written for. */
const isNeeded = async (bucket: Bucket, key: string): Promise<boolean> => {
  if (!key.startsWith(SEALS_PREFIX)) return false;
  const border = key.lastIndexOf('/');
  const head = await readHead(bucket, key.slice(SEALS_PREFIX.length, border));
  return head?.sealId === key.slice(border + 1);
};

const abortOldUploads = async (bucket: Bucket, olderThan: Date): Promise<number> => {
  let aborted = 0;
  let from: { KeyMarker?: string; UploadIdMarker?: string } = {};
  for (;;) {
    const page = await bucket.client.send(
      new ListMultipartUploadsCommand({ Bucket: bucket.name, ...from }),
    );
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (Initiated === undefined || Initiated >= olderThan) continue;
      await bucket.client
        .send(new AbortMultipartUploadCommand({ Bucket: bucket.name, Key, UploadId }))
        .catch((error: unknown) => {
          if (!isMissing(error)) throw error;
        });
      aborted += 1;
    }
    if (page.IsTruncated !== true || page.NextKeyMarker === undefined) return aborted;
    from = {
      KeyMarker: page.NextKeyMarker,
      ...(page.NextUploadIdMarker === undefined ? {} : { UploadIdMarker: page.NextUploadIdMarker }),
    };
  }
};
