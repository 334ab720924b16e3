import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';

import { askHead, EMPTY, OWN_PREFIX, removeSeal, toHead, type Bucket } from './digests';
import { isMissing, isTaken } from './s3-errors';

/**
 * S3 deletes under no condition that says "not since then". So whoever deletes the old says so first, by a mark beside the
 * key, and looks at the object after that. Whoever writes waits, after the write, until there is no mark, and then looks
 * whether its object is still there. A mark that came later belongs to a deletion that sees the fresh object; one that went
 * earlier to a deletion that is over, whose work the last look sees.
 */
export const MARKS_PREFIX = `${OWN_PREFIX}deleting/`;
const markKey = (key: string): string => `${MARKS_PREFIX}${key}`;

/** A deletion that has not been sent this long after its mark is not sent any more. */
const DELETE_WITHIN_MS = 5_000;
const DELETE_TIMEOUT_MS = 5_000;
/** A mark that stands longer than any deletion can take was left behind. */
const ABANDONED_AFTER_MS = 2 * (DELETE_WITHIN_MS + DELETE_TIMEOUT_MS);
const LOOK_EVERY_MS = 50;

export const untilNobodyDeletes = async (bucket: Bucket, key: string): Promise<void> => {
  const mark = markKey(key);
  const from = performance.now();
  while ((await askHead(bucket, mark)) !== null) {
    if (performance.now() - from > ABANDONED_AFTER_MS) {
      await removeKey(bucket, mark);
      return;
    }
    await wait(LOOK_EVERY_MS);
  }
};

/** Whether it deleted what was last written before then. */
export const deleteIfOlder = async (
  bucket: Bucket,
  key: string,
  before: Date,
): Promise<boolean> => {
  if (!(await isOlder(bucket, key, before)).older) return false;
  const mark = markKey(key);
  const from = performance.now();
  try {
    await bucket.client.send(
      new PutObjectCommand({ Bucket: bucket.name, Key: mark, ...EMPTY, IfNoneMatch: '*' }),
    );
  } catch (error) {
    // Somebody else deletes it; a mark that was left behind is removed by the next writer, or by the sweep.
    if (isTaken(error)) return false;
    throw error;
  }
  try {
    const look = await isOlder(bucket, key, before);
    if (!look.older || performance.now() - from > DELETE_WITHIN_MS) return false;
    await removeKey(bucket, key, AbortSignal.timeout(DELETE_TIMEOUT_MS));
    if (look.sealId !== null) await removeSeal(bucket, key, look.sealId);
    return true;
  } finally {
    await removeKey(bucket, mark);
  }
};

const isOlder = async (
  bucket: Bucket,
  key: string,
  before: Date,
): Promise<{ readonly older: boolean; readonly sealId: string | null }> => {
  const raw = await askHead(bucket, key);
  if (raw === null) return { older: false, sealId: null };
  const head = await toHead(bucket, key, raw);
  const modifiedAt = head?.modifiedAt ?? raw.LastModified ?? new Date(8.64e15);
  return { older: modifiedAt < before, sealId: head?.sealId ?? null };
};

export const removeKey = async (
  bucket: Bucket,
  key: string,
  abortSignal?: AbortSignal,
): Promise<void> => {
  try {
    await bucket.client.send(
      new DeleteObjectCommand({ Bucket: bucket.name, Key: key }),
      abortSignal === undefined ? {} : { abortSignal },
    );
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
};
