import { removeKey } from './deletion-marks';
import { OWN_PREFIX, readHead, SEALS_PREFIX, type Bucket } from './digests';
import { listKeys } from './list-keys';
import { listUploads } from './list-uploads';
import { abortParts } from './stage-parts';

/**
 * What no write needs any more: multipart uploads that nobody ended (also where the store has no lifecycle rules), seals
 * whose object is another by now, marks and probes. Only what was last touched before `olderThan`; answers how many.
 */
export const sweepLeftovers = async (
  bucket: Bucket,
  olderThan: Date,
  spared: string | null,
): Promise<number> => {
  let removed = 0;
  for await (const { key, uploadId, beganAt } of listUploads(bucket, '')) {
    if (beganAt >= olderThan || (spared !== null && key.startsWith(spared))) continue;
    await abortParts(bucket, { key, uploadId });
    removed += 1;
  }
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
