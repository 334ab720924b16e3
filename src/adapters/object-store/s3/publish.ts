import { PutObjectCommand } from '@aws-sdk/client-s3';

import { ObjectStoreUnavailableError, type PutResult } from '../../../ports/object-store';
import { untilNobodyDeletes } from './deletion-marks';
import { askHead, removeSeal, toHead, WRITE_ID, type Bucket, type RawHead } from './digests';
import { readStanding } from './read-standing';
import { isMissing, isTaken } from './s3-errors';

/** What must hold at the key for a write to happen. */
export interface Condition {
  readonly IfNoneMatch?: '*';
  readonly IfMatch?: string;
}

/** An object that is ready but not yet at its key. */
export interface Staged {
  readonly key: string;
  readonly writeId: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** Makes it appear. Can be asked again as long as it has failed. */
  show(condition: Condition): Promise<void>;
}

/** Each round needs another write in between, so that many are a sign of a fault. */
const ROUNDS_MAX = 20;

/**
 * Puts a staged object at its key, never over another one. Equal bytes that stand there are written over by equal ones, which
 * is a sign of life that no deletion of the old can miss.
 */
export const publish = async (
  bucket: Bucket,
  staged: Staged,
  isConditional: boolean,
): Promise<PutResult> => {
  const { key, sizeBytes, sha256 } = staged;
  let replaced: RawHead | null = null;
  const done = async (): Promise<PutResult> => {
    if (replaced?.sealId) await removeSeal(bucket, key, replaced.sealId);
    return { sizeBytes, sha256, outcome: replaced === null ? 'created' : 'reused' };
  };
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    // A deletion that ends between the write and the look for its mark is seen by what it left: nothing.
    if (await tryShow(bucket, staged, replaced, isConditional)) {
      await untilNobodyDeletes(bucket, key);
    }
    const raw = await askHead(bucket, key);
    // What was in the way has been deleted since, or what was shown right after: the place is free again.
    if (raw === null) {
      replaced = null;
      continue;
    }
    // Written by this very call, maybe in a request whose answer was lost.
    if (raw.Metadata?.[WRITE_ID] === staged.writeId) return done();
    const found = await toHead(bucket, key, raw);
    if (found === null || found.sha256 !== sha256 || found.sizeBytes !== sizeBytes) {
      const standing = await readStanding(bucket, key, found ?? raw);
      return { sizeBytes, sha256, outcome: 'conflict', standing };
    }
    replaced = found;
  }
  throw new ObjectStoreUnavailableError(`other writers do not leave ${key} alone`);
};

/** False: something stands at the key, or no longer does, or this write has been made already. */
const tryShow = async (
  bucket: Bucket,
  staged: Staged,
  replaced: RawHead | null,
  isConditional: boolean,
): Promise<boolean> => {
  // Where the store has no conditional writes, a look just before is all there is.
  if (!isConditional && replaced === null && (await askHead(bucket, staged.key)) !== null) {
    return false;
  }
  const condition: Condition =
    replaced === null ? { IfNoneMatch: '*' } : { IfMatch: replaced.etag };
  try {
    await staged.show(isConditional ? condition : {});
    return true;
  } catch (error) {
    if (isTaken(error) || isMissing(error)) return false;
    throw error;
  }
};

/** An object that fits into one request. */
export const stageWhole = (
  bucket: Bucket,
  input: {
    readonly key: string;
    readonly writeId: string;
    readonly body: Buffer;
    readonly sha256: string;
    readonly contentType: string;
    readonly metadata: Readonly<Record<string, string>>;
    readonly encryption: object;
  },
): Staged => ({
  key: input.key,
  writeId: input.writeId,
  sizeBytes: input.body.length,
  sha256: input.sha256,
  show: async (condition) => {
    await bucket.client.send(
      new PutObjectCommand({
        Bucket: bucket.name,
        Key: input.key,
        Body: input.body,
        ContentLength: input.body.length,
        ContentType: input.contentType,
        Metadata: { ...input.metadata },
        ...input.encryption,
        ...condition,
      }),
    );
  },
});
