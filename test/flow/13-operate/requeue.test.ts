import { requeueGeneration } from '../../../src/flow/operate/requeue-generation';
import { stopGeneration } from '../../../src/flow/operate/stop-generation';
import { useFlow, type Flow } from '../../support/flow-harness';
import { onlyProxy } from '../../support/flow/expectations';
import { reduceAll, say } from '../../support/flow/observations';
import {
  auditOf,
  expectRefused,
  letBackOff,
  letDie,
  NOBODY,
  ORDER,
} from '../../support/flow/operator';

const open = useFlow();

const requeue = (flow: Flow, id: string, order = ORDER) =>
  requeueGeneration(flow.context, flow.bus, id, order);
const stop = (flow: Flow, id: string) => stopGeneration(flow.context, flow.slots, id, ORDER);

describe('a requeue', () => {
  it('lets a generation that waits for its retry go now', async () => {
    const flow = await open();
    const { id } = await flow.submit();
    await toRetryWait(flow, id);
    expect(await requeue(flow, id)).toMatchObject({
      kind: 'DONE',
      result: { task: { status: 'QUEUED' }, asked: null },
    });
    await flow.drain(['reducer', 'reconciler']);
    expect(await flow.task(id)).toMatchObject({ status: 'SUBMITTED', currentAttemptNo: 2 });
    expect(await auditOf(flow)).toMatchObject([
      {
        action: 'generation.requeue',
        before: { status: 'RETRY_WAIT' },
        after: { status: 'QUEUED' },
        refused: null,
      },
    ]);
  });

  it('brings back a message that was lost', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const { id } = await flow.submit();
    await flow.finishJob(id);
    await flow.relay();
    expect(await flow.lose('output-fetch')).toHaveLength(1);
    expect(await requeue(flow, id)).toMatchObject({
      result: { asked: { type: 'output.fetch.requested' } },
    });
    await flow.drain();
    expect((await flow.task(id)).status).toBe('SUCCEEDED');
  });

  it('brings back a message that died, under its own id', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const { id } = await flow.submit();
    await flow.finishJob(id);
    await flow.relay();
    await letDie(flow, 'output-fetch');
    await requeue(flow, id);
    const messages = await flow.look(
      `SELECT id FROM outbox_events WHERE type = 'output.fetch.requested'`,
    );
    expect(messages).toHaveLength(1);
    await flow.drain();
    expect((await flow.task(id)).status).toBe('SUCCEEDED');
  });

  it.each([
    ['provider', 'DISPATCHING', 'SUBMITTED'],
    ['reconciler', 'SUBMIT_UNKNOWN', 'RUNNING'],
    ['output-fetch', 'OUTPUT_FETCHING', 'SUCCEEDED'],
    ['media', 'POST_PROCESSING', 'SUCCEEDED'],
  ] as const)('makes the message due that waits in the back-off of %s', async (group, at, then) => {
    const flow = await open({ toolkit: onlyProxy });
    const id = await standAt(flow, at);
    expect(await letBackOff(flow, group)).toBe(1);
    await flow.drain();
    expect((await flow.task(id)).status).toBe(at);
    expect(await requeue(flow, id)).toMatchObject({ kind: 'DONE', result: { asked: { group } } });
    await flow.drain();
    expect((await flow.task(id)).status).toBe(then);
    expect(await auditOf(flow)).toMatchObject([
      { action: 'generation.requeue', after: { status: at, published: true }, refused: null },
    ]);
  });

  it('makes the message due that waits in the outbox for its time', async () => {
    const flow = await open();
    const id = await standAt(flow, 'SUBMIT_UNKNOWN', 0);
    await flow.drain();
    expect((await flow.task(id)).status).toBe('SUBMIT_UNKNOWN');
    expect(await requeue(flow, id)).toMatchObject({ kind: 'DONE' });
    await flow.drain();
    expect((await flow.task(id)).status).toBe('RUNNING');
  });

  it('takes no message from whoever works on it', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const id = await standAt(flow, 'OUTPUT_FETCHING');
    const now = flow.clock.now();
    const taken = await flow.bus.receive('output-fetch', { max: 1, leaseMs: 60_000, now });
    expect(taken).toHaveLength(1);
    await requeue(flow, id);
    await flow.relay();
    expect(await flow.bus.receive('output-fetch', { max: 1, leaseMs: 60_000, now })).toEqual([]);
    expect(await flow.bus.extend('output-fetch', taken, 60_000, now)).toBe(1);
  });

  it('of an unknown submit asks the provider again and sends nothing', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: ['answer_lost', 'hang'] });
    flow.clock.advance(5_000);
    await flow.relay();
    await flow.lose('reconciler');
    await requeue(flow, id);
    await flow.drain();
    expect((await flow.task(id)).status).toBe('RUNNING');
    expect(await flow.attempts(id)).toHaveLength(1);
  });

  it('sends nothing while an earlier attempt may have a job', async () => {
    const flow = await open();
    const { id } = await flow.submit();
    await toRetryWait(flow, id);
    const settled = await flow.attempt(id);
    await flow.look(`ALTER TABLE task_attempts DISABLE TRIGGER USER`);
    await flow.look(`UPDATE task_attempts SET status = 'UNKNOWN' WHERE id = $1`, [settled.id]);
    await expectRefused(flow, 'JOB_MAY_LIVE', () => requeue(flow, id));
    await flow.look(`UPDATE task_attempts SET status = $2 WHERE id = $1`, [
      settled.id,
      settled.status,
    ]);
  });

  it('is refused where no message carries the generation, without a reason, and of nothing', async () => {
    const flow = await open();
    const queued = await flow.create();
    await expectRefused(flow, 'NOTHING_TO_REQUEUE', () => requeue(flow, queued.id));
    const { id } = await flow.submit({ fault: 'hang' });
    await expectRefused(flow, 'NOTHING_TO_REQUEUE', () => requeue(flow, id));
    await expectRefused(flow, 'REASON_REQUIRED', () => requeue(flow, id, { ...ORDER, reason: '' }));
    await expectRefused(flow, 'NOT_FOUND', () => requeue(flow, NOBODY));
    await expectRefused(flow, 'NOT_FOUND', () => requeue(flow, flow.tenantId));
  });

  it('by two operators at once has one effect', async () => {
    const flow = await open();
    const { id } = await flow.submit();
    await toRetryWait(flow, id);
    const outcomes = await Promise.all([requeue(flow, id), requeue(flow, id)]);
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['DONE', 'REFUSED']);
    expect((await flow.history(id)).filter((word) => word === 'retry_due')).toHaveLength(1);
  });
});

type Step = 'DISPATCHING' | 'SUBMIT_UNKNOWN' | 'OUTPUT_FETCHING' | 'POST_PROCESSING';

/** A generation at a step whose message is on the bus, and due. */
const standAt = async (flow: Flow, step: Step, unknownForMs = 5_000): Promise<string> => {
  if (step === 'DISPATCHING') {
    const { id } = await flow.create();
    await flow.relay();
    await flow.deliver('scheduler');
    await flow.relay();
    return id;
  }
  if (step === 'SUBMIT_UNKNOWN') {
    const { id } = await flow.submit({ fault: ['answer_lost', 'hang', 'callback_never'] });
    flow.clock.advance(unknownForMs);
    await flow.relay();
    return id;
  }
  const { id } = await flow.submit();
  await flow.finishJob(id);
  await flow.relay();
  if (step === 'POST_PROCESSING') {
    await flow.deliver('output-fetch');
    await flow.relay();
  }
  expect((await flow.task(id)).status).toBe(step);
  return id;
};

/** A failure that cost nothing and may be tried again, long before its time. */
const toRetryWait = async (flow: Flow, id: string): Promise<void> => {
  await say(flow, await flow.attempt(id), {
    status: 'FAILED',
    rawStatus: 'failed',
    failure: { kind: 'PROVIDER_INTERNAL', code: 'internal' },
  });
  await reduceAll(flow);
  expect((await flow.task(id)).status).toBe('RETRY_WAIT');
};

describe('a stop by an operator', () => {
  it('follows the law of any cancel: at once in the queue, by the provider when it has the job', async () => {
    const flow = await open();
    const queued = await flow.create();
    expect(await stop(flow, queued.id)).toMatchObject({ result: { status: 'CANCELED' } });
    const running = await flow.submit({ fault: 'hang' });
    expect(await stop(flow, running.id)).toMatchObject({
      result: { status: 'CANCEL_REQUESTED', cancelReason: 'OPERATOR' },
    });
    await expectRefused(flow, 'ALREADY_REQUESTED', () => stop(flow, running.id));
    await flow.drain();
    await flow.jobReached(running.id, 'canceled');
    await flow.poll();
    await flow.drain();
    expect((await flow.task(running.id)).status).toBe('CANCELED');
    await expectRefused(flow, 'ALREADY_FINISHED', () => stop(flow, running.id));
    await expectRefused(flow, 'NOT_FOUND', () => stop(flow, NOBODY));
  });
});
