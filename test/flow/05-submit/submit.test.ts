import type { Consumed } from '../../../src/flow/consume';
import { createSubmitConsumer } from '../../../src/flow/submit/submit-attempt';
import type { Envelope } from '../../../src/ports/messages';
import { useFlow, type Flow } from '../../support/flow-harness';
import { expectRepeatStopped, onlyProxy } from '../../support/flow/expectations';
import { SimulatedCrash } from '../../support/flow/message-driver';
import { PRICE_MICROS } from '../../support/flow/seed-catalog';
import { digestOf, makePicture, uploadPicture } from '../../support/flow/uploads';

const open = useFlow();

/** Up to the point where the provider worker has a message to send. */
const dispatch = async (flow: Flow, changes = {}): Promise<string> => {
  const { id } = await flow.create(changes);
  await flow.relay();
  await flow.deliver('scheduler');
  await flow.relay();
  return id;
};

/** The provider's list is believed, and asked until the job is found or its absence is certain. */
const resolveUnknown = async (flow: Flow, taskId: string): Promise<void> => {
  for (let asked = 0; asked < 12; asked += 1) {
    flow.clock.advance(10_000);
    await flow.relay();
    await flow.deliver('reconciler');
    await flow.relay();
    await flow.deliver('reducer');
    if ((await flow.task(taskId)).status !== 'SUBMIT_UNKNOWN') return;
  }
  throw new Error('the unknown submit stayed unknown');
};

describe('a submit', () => {
  it('sends one attempt once and binds the job', async () => {
    const flow = await open();
    const { id, status } = await flow.submit();
    expect(status).toBe('SUBMITTED');
    const jobs = await flow.jobs(id);
    expect(jobs).toHaveLength(1);
    expect(await flow.attempt(id)).toMatchObject({
      status: 'ACKED',
      jobId: jobs[0]?.id,
      leaseUntil: null,
    });
    expect(jobs[0]?.request.prompt).toBe('A lighthouse in the rain');
  });

  it('hands the provider a short-lived URL of the picture, and nothing else of ours', async () => {
    const flow = await open();
    const imageAssetId = await uploadPicture(flow);
    const { id } = await flow.submit({ request: { imageAssetId } });
    const [job] = await flow.jobs(id);
    const { image_url: url } = job?.request as unknown as { image_url: string };
    const answer = await fetch(url);
    expect(digestOf(Buffer.from(await answer.arrayBuffer()))).toBe(digestOf(await makePicture()));
    expect((await flow.attempt(id)).sent.imageSha256).toBe(digestOf(await makePicture()));
    flow.clock.advance(flow.context.settings.downloadTicketMs + 1_000);
    expect((await fetch(url)).status).toBe(403);
  });

  test('the inbox of provider stops a repeat', async () => {
    const flow = await open();
    await dispatch(flow);
    await expectRepeatStopped(flow, 'provider');
  });

  it('delivered five times at once sends one POST', async () => {
    const flow = await open();
    const id = await dispatch(flow);
    await flow.deliverAtOnce('provider', 5);
    expect((await flow.task(id)).status).toBe('SUBMITTED');
    expect(await flow.jobs(id)).toHaveLength(1);
  });

  it('does not leave when its picture was withdrawn after the dispatch', async () => {
    const flow = await open();
    const imageAssetId = await uploadPicture(flow);
    const id = await dispatch(flow, { request: { imageAssetId } });
    await flow.look(`UPDATE assets SET status = 'REJECTED' WHERE id = $1`, [imageAssetId]);
    await flow.deliver('provider');
    expect(await flow.task(id)).toMatchObject({
      status: 'FAILED_FINAL',
      lastErrorCode: 'INPUT_WITHDRAWN',
    });
    expect(await flow.jobs(id)).toEqual([]);
  });

  it('that was cancelled before it was sent is never sent', async () => {
    const flow = await open();
    const id = await dispatch(flow);
    expect(await flow.cancel(id)).toMatchObject({ stopped: false });
    expect((await flow.task(id)).status).toBe('CANCEL_REQUESTED');
    await flow.deliver('provider');
    expect(await flow.task(id)).toMatchObject({
      status: 'CANCELED',
      cancelOutcome: 'BEFORE_SUBMIT',
    });
    expect(await flow.jobs(id)).toEqual([]);
    expect((await flow.slots.usage(['platform']))['platform']).toBe(0);
  });
});

describe('an answer that was lost', () => {
  it('leaves one job, an unknown attempt and one hold; the list finds the job and the task succeeds (case 1)', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const { id } = await flow.submit({ fault: 'answer_lost' });
    expect((await flow.task(id)).status).toBe('SUBMIT_UNKNOWN');
    expect(await flow.attempt(id)).toMatchObject({ status: 'UNKNOWN', jobId: null });
    expect(await flow.jobs(id)).toHaveLength(1);
    expect(await flow.look('SELECT status FROM holds')).toEqual([{ status: 'OPEN' }]);
    await flow.jobReached(id);
    await resolveUnknown(flow, id);
    await flow.drain();
    expect(await flow.task(id)).toMatchObject({ status: 'SUCCEEDED', currentAttemptNo: 1 });
    expect(await flow.ledger(id)).toMatchObject([
      { kind: 'RESERVE' },
      { kind: 'SETTLE', amount: PRICE_MICROS },
    ]);
  });

  it.each(['answer_cut', 'answer_no_id', 'answer_502', 'answer_504'])(
    'as %s is unknown, never sent again, and bound by the list (cases 1, 5)',
    async (fault) => {
      const flow = await open();
      const { id } = await flow.submit({ fault });
      expect((await flow.task(id)).status).toBe('SUBMIT_UNKNOWN');
      await flow.runPass();
      expect(await flow.attempts(id)).toHaveLength(1);
      await flow.jobReached(id);
      await resolveUnknown(flow, id);
      expect((await flow.task(id)).status).toBe('OUTPUT_FETCHING');
      expect(await flow.attempt(id)).toMatchObject({
        status: 'SUCCEEDED',
        jobId: (await flow.jobs(id))[0]?.id,
      });
    },
  );

  it('is bound by a callback before anybody has asked', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: ['answer_lost', 'hang'] });
    const { requestKey } = await flow.attempt(id);
    await flow.callbacks.admit(await flow.callbacks.arrived(requestKey, 'processing'));
    await flow.relay();
    await flow.deliver('reducer');
    expect((await flow.task(id)).status).toBe('RUNNING');
    expect((await flow.history(id)).slice(-2)).toEqual(['provider_job_found', 'provider_running']);
  });

  it('while a cancel waits binds the job and asks it to stop', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: ['answer_lost', 'hang'] });
    await flow.cancel(id);
    for (let asked = 0; asked < 4; asked += 1) {
      flow.clock.advance(10_000);
      await flow.drain();
    }
    await flow.finishJob(id);
    expect(await flow.task(id)).toMatchObject({ status: 'CANCELED', cancelOutcome: 'CONFIRMED' });
    expect((await flow.jobs(id)).map((job) => job.status)).toEqual(['canceled']);
  });

  it('of a request that never arrived is retried only after its absence is certain', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'not_created_lost' });
    expect((await flow.task(id)).status).toBe('SUBMIT_UNKNOWN');
    flow.clock.advance(10_000);
    await flow.drain();
    expect((await flow.task(id)).status).toBe('SUBMIT_UNKNOWN');
    await resolveUnknown(flow, id);
    expect(await flow.task(id)).toMatchObject({ status: 'RETRY_WAIT' });
    expect((await flow.attempt(id)).status).toBe('FAILED_BEFORE_ACCEPT');
    expect(await flow.look('SELECT status FROM holds')).toEqual([{ status: 'OPEN' }]);
    expect((await flow.slots.usage(['platform']))['platform']).toBe(0);
  });
});

describe('a definite refusal', () => {
  it.each([
    ['reject_400', 'PROVIDER_REJECTED_INPUT'],
    ['reject_422', 'MODERATION_REJECTED'],
  ])('%s ends the task and closes the hold once (case 5)', async (fault, code) => {
    const flow = await open();
    const { id } = await flow.submit({ fault });
    expect(await flow.task(id)).toMatchObject({ status: 'FAILED_FINAL', lastErrorCode: code });
    expect((await flow.attempt(id)).status).toBe('FAILED_BEFORE_ACCEPT');
    expect(await flow.ledger(id)).toMatchObject([
      { kind: 'RESERVE' },
      { kind: 'RELEASE', amount: PRICE_MICROS },
    ]);
    expect((await flow.slots.usage(['platform']))['platform']).toBe(0);
  });

  it.each(['reject_401', 'reject_402', 'reject_429', 'reject_500', 'reject_503'])(
    '%s keeps the hold while another attempt is allowed, and that one may succeed (case 5)',
    async (fault) => {
      const flow = await open();
      await flow.sandbox.queueFaults([fault]);
      const { id } = await flow.submit();
      expect((await flow.task(id)).status).toBe('RETRY_WAIT');
      expect(await flow.ledger(id)).toMatchObject([{ kind: 'RESERVE' }]);
      expect((await flow.slots.usage(['platform']))['platform']).toBe(0);
      flow.clock.advance(60_000);
      await flow.runPass();
      await flow.drain(['reducer', 'output-fetch', 'media']);
      expect(await flow.task(id)).toMatchObject({ status: 'SUBMITTED', currentAttemptNo: 2 });
      expect((await flow.attempts(id)).map(({ status }) => status)).toEqual([
        'FAILED_BEFORE_ACCEPT',
        'ACKED',
      ]);
      expect(await flow.jobs(id)).toHaveLength(1);
    },
  );

  it('again and again ends when the budget is spent, with one RELEASE', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'reject_503' });
    for (let tries = 0; tries < 8; tries += 1) {
      flow.clock.advance(90_000);
      await flow.runPass();
      await flow.drain();
    }
    expect(await flow.task(id)).toMatchObject({
      status: 'FAILED_FINAL',
      lastErrorCode: 'PROVIDER_UNAVAILABLE',
    });
    expect(await flow.attempts(id)).toHaveLength(5);
    expect(await flow.ledger(id)).toMatchObject([
      { kind: 'RESERVE' },
      { kind: 'RELEASE', amount: PRICE_MICROS },
    ]);
  });

  it('opens the circuit of the account for submits, and a success closes it', async () => {
    const flow = await open();
    await flow.sandbox.queueFaults(Array.from({ length: 5 }, () => 'reject_503'));
    const failed = await Promise.all(Array.from({ length: 5 }, () => flow.create()));
    await flow.drain(['reducer']);
    for (const { id } of failed) await flow.cancel(id);
    const { id } = await flow.create();
    await flow.drain(['reducer']);
    expect(await flow.task(id)).toMatchObject({ status: 'QUEUED', waitReason: 'CIRCUIT_OPEN' });
    flow.clock.advance(flow.context.settings.circuitOpenMs + 1);
    await flow.runPass();
    await flow.drain(['reducer']);
    expect((await flow.task(id)).status).toBe('SUBMITTED');
    expect(await flow.look('SELECT circuit_failures FROM provider_accounts')).toEqual([
      { circuit_failures: 0 },
    ]);
  });
});

describe('a provider worker that dies', () => {
  const die = async (flow: Flow, point: Parameters<Flow['crashAt']>[0]): Promise<void> => {
    flow.crashAt(point);
    await expect(flow.deliver('provider')).rejects.toThrow(SimulatedCrash);
    flow.disarm();
  };

  it('between the database and the POST leaves SENDING, which is never sent again', async () => {
    const flow = await open();
    const id = await dispatch(flow);
    await die(flow, 'submit.after_sending_before_http');
    flow.clock.advance(16_000);
    // Its lease still runs: the worker may only be slow.
    expect((await flow.deliver('provider'))[0]?.consumed.kind).toBe('RETRY');
    flow.clock.advance(flow.context.settings.submitLeaseMs);
    await flow.deliver('provider');
    expect((await flow.task(id)).status).toBe('SUBMIT_UNKNOWN');
    await resolveUnknown(flow, id);
    expect((await flow.task(id)).status).toBe('RETRY_WAIT');
    flow.clock.advance(60_000);
    await flow.runPass();
    await flow.drain(['reducer']);
    expect(await flow.task(id)).toMatchObject({ status: 'SUBMITTED', currentAttemptNo: 2 });
    expect(await flow.jobs(id)).toHaveLength(1);
  });

  it('between the answer and the database leaves one job, which the list finds', async () => {
    const flow = await open();
    const id = await dispatch(flow);
    await die(flow, 'submit.after_http_before_db');
    flow.clock.advance(flow.context.settings.submitLeaseMs + 16_000);
    await flow.deliver('provider');
    expect((await flow.task(id)).status).toBe('SUBMIT_UNKNOWN');
    await flow.jobReached(id);
    await resolveUnknown(flow, id);
    expect(await flow.task(id)).toMatchObject({ status: 'OUTPUT_FETCHING', currentAttemptNo: 1 });
  });

  it('between the database and its acknowledgement has done its work', async () => {
    const flow = await open();
    const id = await dispatch(flow);
    await die(flow, 'submit.after_db_before_ack');
    flow.clock.advance(16_000);
    expect((await flow.deliver('provider')).map(({ consumed }) => consumed.kind)).toEqual([
      'DUPLICATE',
    ]);
    expect((await flow.task(id)).status).toBe('SUBMITTED');
  });

  it.each([
    ['was accepted', {}, 'SUBMITTED'],
    ['was refused', { fault: 'reject_503' }, 'RETRY_WAIT'],
  ])('slowly, and is fenced, still has its answer kept when it %s', async (_, changes, status) => {
    const flow = await open();
    const id = await dispatch(flow, changes);
    expect(await answerAfter(flow, (envelope) => takeOver(flow, id, envelope))).toEqual({
      kind: 'DUPLICATE',
    });
    expect((await flow.task(id)).status).toBe(status);
    expect(await flow.attempts(id)).toHaveLength(1);
  });

  it('so slowly that its attempt was given up for lost still has a charged refusal booked', async () => {
    const flow = await open();
    const id = await dispatch(flow, { fault: 'reject_422_charged' });
    await flow.look('UPDATE providers SET absence_grace_ms = 100000000');
    await answerAfter(flow, async (envelope) => {
      await takeOver(flow, id, envelope);
      for (let asked = 0; asked < 80 && (await flow.task(id)).status !== 'EXPIRED'; asked += 1) {
        flow.clock.advance(30_000);
        await flow.drain(['provider']);
      }
      expect((await flow.attempt(id)).status).toBe('ABANDONED');
    });
    await flow.drain();
    expect(await flow.attempt(id)).toMatchObject({
      status: 'FAILED',
      errorClass: 'POLICY_REJECTED',
    });
    expect((await flow.task(id)).status).toBe('EXPIRED');
    expect((await flow.ledger(id)).map(({ kind }) => kind)).toEqual(['RESERVE', 'RELEASE']);
    expect(await flow.look('SELECT source FROM provider_costs')).toEqual([{ source: 'ATTEMPT' }]);
  });

  /** Sends the waiting attempt by a worker that is paused between the provider's answer and its row. */
  const answerAfter = async (
    flow: Flow,
    meanwhile: (envelope: Envelope) => Promise<void>,
  ): Promise<Consumed> => {
    const [delivery] = await flow.bus.receive('provider', {
      max: 1,
      leaseMs: 1,
      now: flow.clock.now(),
    });
    if (delivery === undefined) throw new Error('nothing is to be sent');
    const { envelope } = delivery;
    const real = flow.provider.gatewayOf('sandbox');
    const paused = createSubmitConsumer(flow.context, {
      ...flow.provider,
      gatewayOf: () => ({
        ...real,
        submit: async (...args) => {
          const outcome = await real.submit(...args);
          await meanwhile(envelope);
          return outcome;
        },
      }),
    });
    return paused(envelope, new AbortController().signal);
  };

  /** The lease ends, and another worker takes the message. */
  const takeOver = async (flow: Flow, id: string, envelope: Envelope): Promise<void> => {
    flow.clock.advance(flow.context.settings.submitLeaseMs + 1);
    expect(await flow.replay(envelope)).toEqual({ kind: 'APPLIED' });
    expect((await flow.task(id)).status).toBe('SUBMIT_UNKNOWN');
  };
});
