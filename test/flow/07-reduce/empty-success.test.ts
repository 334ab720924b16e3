import type { Attempt } from '../../../src/domain/attempt/attempt';
import { recordObservation } from '../../../src/flow/observe/record-observation';
import { useFlow, type Flow } from '../../support/flow-harness';
import { observation, reduceAll, say } from '../../support/flow/observations';

const open = useFlow();

const EMPTY = { status: 'SUCCEEDED', rawStatus: 'succeeded' } as const;

/** What the poller does when it was told to ask once more. */
const askAgain = async (flow: Flow, attempt: Attempt): Promise<unknown> =>
  recordObservation(flow.context, {
    providerId: attempt.providerId,
    accountId: attempt.accountId,
    source: 'polling',
    sourceEventId: null,
    requestKey: attempt.requestKey,
    observation: observation(attempt.jobId ?? '', EMPTY),
    isSecondAnswer: true,
  });

describe('a success without an output', () => {
  it('is no failure before the provider was asked once more: the output may only be late', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'hang' });
    const attempt = await flow.attempt(id);
    await say(flow, attempt, EMPTY);
    await reduceAll(flow);
    expect(await flow.task(id)).toMatchObject({ status: 'RUNNING', lastErrorCode: null });
    const { emptySuccessAt, nextPollAt } = await flow.attempt(id);
    expect(emptySuccessAt).toEqual(flow.clock.now());
    expect(nextPollAt?.getTime()).toBeLessThan(flow.clock.now().getTime() + 10_000);
    const outputs = [{ index: 0, url: 'http://127.0.0.1:1/late.mp4', expiresAt: null }];
    await say(flow, attempt, { ...EMPTY, outputs });
    await reduceAll(flow);
    expect((await flow.task(id)).status).toBe('OUTPUT_FETCHING');
    expect((await flow.attempts(id)).length).toBe(1);
  });

  it('counts as a failure when the second answer shows none either, and not a moment sooner', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'hang' });
    const attempt = await flow.attempt(id);
    await say(flow, attempt, EMPTY);
    await reduceAll(flow);
    await say(flow, attempt, { ...EMPTY, progress: 99 });
    await reduceAll(flow);
    expect((await flow.task(id)).status).toBe('RUNNING');
    flow.clock.advance(3_000);
    await askAgain(flow, attempt);
    await reduceAll(flow);
    expect(await flow.task(id)).toMatchObject({
      status: 'RETRY_WAIT',
      lastErrorCode: 'PROVIDER_NO_OUTPUT',
    });
    expect((await flow.attempt(id)).status).toBe('FAILED');
  });

  it('is asked about again by the poller itself', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'hang' });
    const attempt = await flow.attempt(id);
    await say(flow, attempt, EMPTY);
    await reduceAll(flow);
    await flow.poll();
    const [asked] = await flow.look(
      `SELECT source_event_id FROM provider_events WHERE source_event_id LIKE '%:again'`,
    );
    expect(asked).toBeDefined();
    await reduceAll(flow);
    // The sandbox still works on it, and says so.
    expect((await flow.task(id)).status).toBe('RUNNING');
  });
});
