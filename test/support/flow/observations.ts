import type { Attempt } from '../../../src/domain/attempt/attempt';
import type { JobObservation } from '../../../src/domain/provider/vocabulary';
import { recordObservation } from '../../../src/flow/observe/record-observation';
import type { Flow } from '../flow-harness';

export const observation = (
  jobId: string,
  changes: Partial<JobObservation> = {},
): JobObservation => ({
  jobId,
  status: 'RUNNING',
  rawStatus: 'processing',
  progress: null,
  providerUpdatedAt: null,
  failure: null,
  outputs: [],
  charge: null,
  echoedRequestKey: null,
  ...changes,
});

/** Stores what a provider might say of the attempt's job; the reducer's message is left to the test. */
export const say = async (
  flow: Flow,
  attempt: Attempt,
  changes: Partial<JobObservation>,
): Promise<'CREATED' | 'DUPLICATE'> =>
  recordObservation(flow.context, {
    providerId: attempt.providerId,
    accountId: attempt.accountId,
    source: 'polling',
    sourceEventId: null,
    requestKey: attempt.requestKey,
    observation: observation(attempt.jobId ?? 'vid_unknown', changes),
  });

/** Relays, and lets the reducer judge everything that was said. */
export const reduceAll = async (flow: Flow): Promise<void> => {
  await flow.relay();
  await flow.deliver('reducer');
};
