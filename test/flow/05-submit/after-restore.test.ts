import type { SubmitRequest } from '../../../src/ports/provider-gateway';
import { MODEL } from '../../support/flow/seed-catalog';
import { useFlow, type Flow } from '../../support/flow-harness';

const open = useFlow();

/** What the life of the database that is forgotten sent for the first attempt of a generation. */
const sendInForgottenLife = async (flow: Flow, taskId: string): Promise<void> => {
  const requestKey = flow.schedule.requestKeyOf(taskId, 1);
  const request: SubmitRequest = {
    ...{ attemptId: flow.context.ids.next(flow.clock.now()), requestKey, model: MODEL },
    ...{ prompt: 'A lighthouse in the rain', negativePrompt: null, seed: 7, aspectRatio: '16:9' },
    ...{ resolution: '480p', durationMs: 2_000, withAudio: false, imageUrl: null, options: {} },
    callbackUrl: flow.schedule.callbackUrlOf('sandbox', requestKey),
  };
  const outcome = await flow.provider.gatewayOf('sandbox').submit(flow.account, request);
  expect(outcome.kind).toBe('ACCEPTED');
};

const restore = (flow: Flow): Promise<void> =>
  flow.context.uow.stores.lives.declareRestored('test', flow.clock.now());

describe('a submit of a generation that is older than the last restore', () => {
  it('binds the job that was made in what is forgotten, and sends nothing', async () => {
    const flow = await open();
    const { id } = await flow.create();
    await sendInForgottenLife(flow, id);
    flow.clock.advance(1_000);
    await restore(flow);
    await flow.drain(['output-fetch', 'media', 'billing', 'notification']);
    expect(await flow.jobs(id)).toHaveLength(1);
    const [job] = await flow.jobs(id);
    expect((await flow.attempt(id)).jobId).toBe(job?.id);
    expect((await flow.task(id)).currentAttemptNo).toBe(1);
  });

  it('is sent once it is sure that nothing was, and not before', async () => {
    const flow = await open();
    const early = await flow.create();
    const late = await flow.create();
    flow.clock.advance(1_000);
    await restore(flow);
    await flow.runPass();
    await flow.relay();
    const { createSettlesMs, absenceGraceMs } =
      (await flow.context.uow.stores.catalog.readProvider('sandbox')) ?? {};
    await flow.deliver('provider');
    expect([await flow.jobs(early.id), await flow.jobs(late.id)]).toEqual([[], []]);
    expect((await flow.task(early.id)).status).toBe('SUBMIT_UNKNOWN');
    flow.clock.advance((createSettlesMs ?? 0) + (absenceGraceMs ?? 0) + 1_000);
    const third = await flow.create();
    await flow.look('UPDATE generation_tasks SET created_at = $1 WHERE id = $2', [
      early.createdAt,
      third.id,
    ]);
    await flow.drain(['reducer', 'reconciler', 'output-fetch', 'media', 'billing', 'notification']);
    expect(await flow.jobs(third.id)).toHaveLength(1);
    expect((await flow.task(third.id)).status).toBe('SUBMITTED');
  });

  it('is sent at once when the generation is younger', async () => {
    const flow = await open();
    await restore(flow);
    flow.clock.advance(1_000);
    const { id } = await flow.submit();
    expect((await flow.task(id)).status).toBe('SUBMITTED');
  });
});
