import { Readable } from 'node:stream';

import { decideOutput, type OutputVerdict } from '../../../src/flow/operate/decide-output';
import { requeueGeneration } from '../../../src/flow/operate/requeue-generation';
import { retryMedia } from '../../../src/flow/operate/retry-media';
import { rawOutputKey } from '../../../src/domain/output/object-keys';
import { MediaToolError, type MediaToolkit } from '../../../src/ports/media-toolkit';
import { useFlow, type Flow } from '../../support/flow-harness';
import { onlyProxy } from '../../support/flow/expectations';
import { auditOf, expectRefused, NOBODY, ORDER } from '../../support/flow/operator';

const open = useFlow();

const decide = (flow: Flow, id: string, verdict: OutputVerdict, order = ORDER) =>
  decideOutput(flow.context, id, { verdict, ...order });
const retry = (flow: Flow, id: string, order = ORDER) => retryMedia(flow.context, id, order);

const fetched = async (flow: Flow): Promise<string> => {
  const { id } = await flow.submit();
  await flow.finishJob(id);
  return id;
};

/** Other bytes come to stand at the output's key while ours are on their way. */
const conflicting = async (): Promise<{ flow: Flow; id: string; key: string }> => {
  const flow = await open({ toolkit: onlyProxy });
  const id = await fetched(flow);
  const task = await flow.task(id);
  const attempt = await flow.attempt(id);
  const key = rawOutputKey(task.tenantId, id, attempt.id, 0, 1);
  const { source } = flow.fetch;
  const realOpen = source.open.bind(source);
  const swapped = jest.spyOn(source, 'open').mockImplementationOnce(async (...args) => {
    const opening = await realOpen(...args);
    await flow.objectServer.store.putStream(key, Readable.from([Buffer.from('other')]), {
      contentType: 'video/mp4',
      sizeBytesMax: 10,
    });
    return opening;
  });
  await flow.relay();
  await flow.deliver('output-fetch');
  swapped.mockRestore();
  expect(await flow.task(id)).toMatchObject({ status: 'OUTPUT_FETCHING', needsOperator: true });
  return { flow, id, key };
};

describe('an output that differs from what is stored', () => {
  it('is fetched once more beside the old bytes, without another job', async () => {
    const { flow, id, key } = await conflicting();
    await expectRefused(flow, 'NEEDS_DECISION', () =>
      requeueGeneration(flow.context, flow.bus, id, ORDER),
    );
    expect(await decide(flow, id, 'FETCH_NEXT')).toMatchObject({
      result: { needsOperator: false, rawGeneration: 2, fetchTries: 0 },
    });
    expect(await flow.look('SELECT resolved_by FROM findings')).toEqual([
      { resolved_by: ORDER.actor },
    ]);
    await flow.drain();
    expect((await flow.task(id)).status).toBe('SUCCEEDED');
    expect(await flow.attempts(id)).toHaveLength(1);
    const old = await flow.objectServer.store.head(key);
    expect(old?.sizeBytes).toBe(5);
    await expectRefused(flow, 'NOT_WAITING_FOR_OPERATOR', () => decide(flow, id, 'FETCH_NEXT'));
  });

  it('is given up: the generation fails, and the tenant pays nothing', async () => {
    const { flow, id } = await conflicting();
    const outcomes = await Promise.all([decide(flow, id, 'GIVE_UP'), decide(flow, id, 'GIVE_UP')]);
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['DONE', 'REFUSED']);
    expect(await flow.task(id)).toMatchObject({
      status: 'FAILED_FINAL',
      lastErrorCode: 'OUTPUT_GIVEN_UP',
    });
    expect(await flow.ledger(id)).toMatchObject([{ kind: 'RESERVE' }, { kind: 'RELEASE' }]);
  });

  it('is decided only where it waits, with a reason', async () => {
    const flow = await open();
    const id = await fetched(flow);
    await expectRefused(flow, 'NOT_WAITING_FOR_OPERATOR', () => decide(flow, id, 'GIVE_UP'));
    await expectRefused(flow, 'REASON_REQUIRED', () =>
      decide(flow, id, 'GIVE_UP', { ...ORDER, reason: '\n' }),
    );
    await expectRefused(flow, 'NOT_FOUND', () => decide(flow, NOBODY, 'GIVE_UP'));
  });
});

/** The real tools, but a profile fails while `broken` says so; only proxy and HLS are made. */
const breaking =
  (broken: { profile: string | null }) =>
  (real: MediaToolkit): MediaToolkit => ({
    probe: real.probe,
    derive: (kind, ...rest) => {
      if (kind === broken.profile) return Promise.reject(new MediaToolError('broken', 'tool'));
      return kind === 'PROXY' || kind === 'HLS'
        ? real.derive(kind, ...rest)
        : Promise.resolve(null);
    },
  });

const spendBudget = async (flow: Flow): Promise<void> => {
  for (let tries = 0; tries < 6; tries += 1) {
    await flow.drain();
    flow.clock.advance(120_000);
  }
};

describe('media that was given up', () => {
  it('is made again with a fresh budget, and never generated again', async () => {
    const broken = { profile: 'PROXY' as string | null };
    const flow = await open({ toolkit: breaking(broken) });
    const id = await fetched(flow);
    await spendBudget(flow);
    expect(await flow.task(id)).toMatchObject({ status: 'POST_PROCESSING', needsOperator: true });
    flow.clock.advance(2 * 3_600_000);
    expect(await retry(flow, id)).toMatchObject({
      result: { needsOperator: false, mediaTries: 0 },
    });
    await expectRefused(flow, 'NOTHING_TO_RETRY', () => retry(flow, id));
    // The budget is a whole one: the first failure of the new round does not end it.
    await flow.drain();
    expect(await flow.task(id)).toMatchObject({ needsOperator: false, mediaTries: 1 });
    broken.profile = null;
    flow.clock.advance(120_000);
    await flow.drain();
    expect((await flow.task(id)).status).toBe('SUCCEEDED');
    expect(await flow.jobs(id)).toHaveLength(1);
    expect(await flow.look('SELECT kind FROM findings WHERE resolved_at IS NULL')).toEqual([]);
    expect(await auditOf(flow)).toMatchObject([
      { action: 'media.retry', refused: null },
      { action: 'media.retry', refused: 'NOTHING_TO_RETRY' },
    ]);
  });

  it('beside a success is made again alone, to the keys it always has', async () => {
    const broken = { profile: 'HLS' as string | null };
    const flow = await open({ toolkit: breaking(broken) });
    const id = await fetched(flow);
    await spendBudget(flow);
    expect((await flow.task(id)).status).toBe('SUCCEEDED');
    expect(await flow.findings()).toEqual(['MEDIA_BUDGET_EXHAUSTED']);
    const ledger = await flow.ledger(id);
    flow.clock.advance(2 * 3_600_000);
    broken.profile = null;
    const outcomes = await Promise.all([retry(flow, id), retry(flow, id)]);
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['DONE', 'REFUSED']);
    await flow.drain();
    const made = await flow.look(`SELECT status FROM assets WHERE kind = 'HLS'`);
    expect(made).toEqual([{ status: 'READY' }]);
    expect(await flow.ledger(id)).toEqual(ledger);
    expect(await flow.look('SELECT kind FROM findings WHERE resolved_at IS NULL')).toEqual([]);
    await expectRefused(flow, 'NOTHING_TO_RETRY', () => retry(flow, id));
  });

  it('is nothing to retry while the step runs, or before there is an output', async () => {
    const flow = await open();
    const queued = await flow.create();
    await expectRefused(flow, 'NOTHING_TO_RETRY', () => retry(flow, queued.id));
    await expectRefused(flow, 'REASON_REQUIRED', () =>
      retry(flow, queued.id, { ...ORDER, reason: ' ' }),
    );
    await expectRefused(flow, 'NOT_FOUND', () => retry(flow, NOBODY));
  });
});
