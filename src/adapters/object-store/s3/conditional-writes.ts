import { PutObjectCommand } from '@aws-sdk/client-s3';

import { removeKey } from './deletion-marks';
import { EMPTY, OWN_PREFIX, type Bucket } from './digests';
import { isTaken, nameOf, statusOf } from './s3-errors';

/** Whether a write can demand that nothing stands at its key: asked by trying, once. */
export class ConditionalWrites {
  private answer: Promise<boolean> | null;

  /** @param known null: found out at the first write */
  constructor(
    private readonly bucket: Bucket,
    private readonly newId: () => string,
    known: boolean | null,
  ) {
    this.answer = known === null ? null : Promise.resolve(known);
  }

  areHonoured(): Promise<boolean> {
    this.answer ??= this.tryCondition().catch((error: unknown) => {
      this.answer = null;
      throw error;
    });
    return this.answer;
  }

  private async tryCondition(): Promise<boolean> {
    const key = `${OWN_PREFIX}probe/${this.newId()}`;
    const put = (): Promise<unknown> =>
      this.bucket.client.send(
        new PutObjectCommand({ Bucket: this.bucket.name, Key: key, ...EMPTY, IfNoneMatch: '*' }),
      );
    try {
      await put();
      return await put().then(
        () => false,
        (error: unknown) => {
          if (isTaken(error)) return true;
          throw error;
        },
      );
    } catch (error) {
      if (statusOf(error) === 501 || nameOf(error) === 'NotImplemented') return false;
      throw error;
    } finally {
      // At worst an empty object stays below our own prefix, where no list shows it.
      await removeKey(this.bucket, key).catch(() => undefined);
    }
  }
}
