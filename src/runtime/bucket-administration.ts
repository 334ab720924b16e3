import { createSystemClock } from '../adapters/clock/system-clock';
import type { BucketVerdict } from '../adapters/object-store/s3/examine-bucket';
import type { Clock } from '../ports/clock';
import type { Config } from './config';

export interface BucketAdministration {
  /** What a process must know before it begins. */
  look(): Promise<BucketVerdict>;
  /** All that a person wants to know. */
  check(): Promise<BucketVerdict>;
  /** Makes what is missing, and looks again. */
  create(): Promise<BucketVerdict>;
}

/** The bucket of this configuration; for a store on S3 only. */
export const openBucketAdministration = (
  config: Config,
  clock: Clock = createSystemClock(0),
): BucketAdministration => {
  const settings = config.objectStore.s3;
  if (settings === null) {
    throw new Error('AIVEDIO_OBJECT_STORE: the folder of AIVEDIO_OBJECT_STORE=disk has no bucket');
  }
  // Loaded when it is asked, like the store itself: the SDK is heavy.
  const load = () =>
    require('../adapters/object-store/s3/examine-bucket') as typeof import('../adapters/object-store/s3/examine-bucket');
  const question = { settings, origin: new URL(config.publicUrl).origin, clock };
  return {
    look: () => load().examineBucket({ ...question, thorough: false }),
    check: () => load().examineBucket({ ...question, thorough: true }),
    create: () => load().createBucket({ ...question, thorough: true }),
  };
};
