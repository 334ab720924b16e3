import { expireOverdue } from '../../../src/flow/reconcile/recover-tasks';
import { useFlow, type Flow } from '../../support/flow-harness';
import { expectRepeatStopped, onlyProxy } from '../../support/flow/expectations';
import { SimulatedCrash } from '../../support/flow/message-driver';
import { observation, reduceAll, say } from '../../support/flow/observations';
import { PRICE_MICROS } from '../../support/flow/seed-catalog';
import { recordObservation } from '../../../src/flow/observe/record-observation';

const open = useFlow();
const REFUSED = { fault: 'failed', faultParams: { error_code: 'content_policy' } };

describe('the reducer', () => {
  test('the inbox of reducer stops a repeat', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'hang' });
    await say(flow, await flow.attempt(id), { progress: 10 });
    await flow.relay();
    await expectRepeatStopped(flow, 'reducer');
    expect((await flow.task(id)).status).toBe('RUNNING');
  });

  it('makes one transition of a message that is delivered many times at once', async () => {
    const flow = await open();
    const { id } = await flow.submit();
    await flow.jobReached(id);
    await flow.poll();
    await flow.relay();
    const answers = await flow.deliverAtOnce('reducer', 10);
    expect(answers.filter(({ kind }) => kind === 'APPLIED')).toHaveLength(1);
    expect((await flow.task(id)).status).toBe('OUTPUT_FETCHING');
  });

  it('releases once for five failed callbacks and a poll (case 6)', async () => {
    const flow = await open();
    const { id } = await flow.submit(REFUSED);
    const { requestKey } = await flow.attempt(id);
    const failed = await flow.callbacks.arrived(requestKey, 'failed');
    await Promise.all([
      flow.poll(),
      ...Array.from({ length: 5 }, () => flow.callbacks.admit(failed)),
    ]);
    await flow.relay();
    await flow.deliverAtOnce('reducer', 3);
    await flow.drain();
    expect(await flow.task(id)).toMatchObject({
      status: 'FAILED_FINAL',
      lastErrorClass: 'POLICY_REJECTED',
    });
    expect(await flow.ledger(id)).toMatchObject([
      { kind: 'RESERVE' },
      { kind: 'RELEASE', amount: PRICE_MICROS },
    ]);
  });

  it('ends a success that the provider filtered as refused by the rules, released, its reason kept (case 21)', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'filtered' });
    expect(await flow.finishJob(id)).toMatchObject({
      status: 'FAILED_FINAL',
      lastErrorCode: 'MODERATION_REJECTED',
    });
    expect(await flow.attempt(id)).toMatchObject({
      status: 'FAILED',
      errorClass: 'POLICY_REJECTED',
    });
    expect(await flow.ledger(id)).toMatchObject([{ kind: 'RESERVE' }, { kind: 'RELEASE' }]);
    expect(await flow.jobs(id)).toHaveLength(1);
  });

  it('starts a new generation after a failure that cost nothing, and none after one that cost', async () => {
    const flow = await open();
    await flow.sandbox.queueFaults(['failed', 'failed_charged']);
    const free = await flow.submit();
    const charged = await flow.submit();
    expect((await flow.finishJob(free.id)).status).toBe('RETRY_WAIT');
    expect((await flow.finishJob(charged.id)).status).toBe('FAILED_FINAL');
    flow.clock.advance(60_000);
    await flow.runPass();
    await flow.drain(['reducer', 'output-fetch', 'media']);
    expect(await flow.task(free.id)).toMatchObject({ status: 'SUBMITTED', currentAttemptNo: 2 });
  });

  it('takes a job that was cancelled by somebody else for a failure', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'hang' });
    const { jobId } = await flow.attempt(id);
    await flow.provider.gatewayOf('sandbox').cancel(flow.account, jobId ?? '');
    expect((await flow.finishJob(id)).status).toBe('RETRY_WAIT');
    expect((await flow.attempt(id)).status).toBe('CANCELED');
  });

  it('says of a second job for one attempt that the platform must look', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'hang' });
    const attempt = await flow.attempt(id);
    await recordObservation(flow.context, {
      providerId: attempt.providerId,
      accountId: attempt.accountId,
      source: 'callback',
      sourceEventId: 'other',
      requestKey: attempt.requestKey,
      observation: observation('vid_another'),
    });
    await reduceAll(flow);
    expect(await flow.findings()).toEqual(['DUPLICATE_PROVIDER_JOB']);
    expect(await flow.task(id)).toMatchObject({ status: 'SUBMITTED' });
    expect((await flow.attempt(id)).jobId).toBe(attempt.jobId);
  });

  it('that dies before its commit has changed nothing, and after it everything', async () => {
    const flow = await open();
    const { id } = await flow.submit();
    await flow.jobReached(id);
    await flow.poll();
    await flow.relay();
    flow.crashAt('reduce.before_commit');
    await expect(flow.deliver('reducer')).rejects.toThrow(SimulatedCrash);
    expect((await flow.task(id)).status).toBe('SUBMITTED');
    flow.clock.advance(16_000);
    flow.crashAt('reduce.after_commit_before_ack');
    await expect(flow.deliver('reducer')).rejects.toThrow(SimulatedCrash);
    flow.disarm();
    flow.clock.advance(16_000);
    expect((await flow.deliver('reducer')).map(({ consumed }) => consumed.kind)).toEqual([
      'DUPLICATE',
    ]);
    expect((await flow.task(id)).status).toBe('OUTPUT_FETCHING');
  });

  it('that dies before its commit has changed nothing of its money', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'filtered' });
    await flow.jobReached(id);
    await flow.poll();
    await flow.relay();
    flow.crashAt('reduce.before_commit');
    await expect(flow.deliver('reducer')).rejects.toThrow(SimulatedCrash);
    expect((await flow.ledger(id)).map(({ kind }) => kind)).toEqual(['RESERVE']);
    flow.disarm();
    flow.clock.advance(16_000);
    await flow.deliver('reducer');
    expect((await flow.ledger(id)).map(({ kind }) => kind)).toEqual(['RESERVE', 'RELEASE']);
  });
});

describe('an observation that makes no sense', () => {
  it('does not come back forever: its charge is left out, its progress bounded', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'hang' });
    await say(flow, await flow.attempt(id), {
      progress: 150,
      charge: { amount: '99999999999999999999.99', currency: 'USD' },
    });
    await reduceAll(flow);
    expect(await flow.task(id)).toMatchObject({ status: 'RUNNING', progress: 99 });
    expect(await flow.attempt(id)).toMatchObject({ progress: 100, costAmount: null });
  });

  it('does not make a failure free because its charge cannot be booked', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'hang' });
    await say(flow, await flow.attempt(id), {
      status: 'FAILED',
      rawStatus: 'failed',
      failure: { kind: 'PROVIDER_INTERNAL', code: 'internal' },
      charge: { amount: '99999999999999999999.99', currency: 'USD' },
    });
    await reduceAll(flow);
    expect((await flow.task(id)).status).toBe('FAILED_FINAL');
  });

  it('from the future does not make stale what is said after it', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'hang' });
    const attempt = await flow.attempt(id);
    await say(flow, attempt, { providerUpdatedAt: new Date('2099-01-01T00:00:00Z') });
    await reduceAll(flow);
    expect((await flow.attempt(id)).providerUpdatedAt).toEqual(flow.clock.now());
    flow.clock.advance(1_000);
    await say(flow, attempt, { rawStatus: 'rendering', providerUpdatedAt: flow.clock.now() });
    await reduceAll(flow);
    expect(await flow.attempt(id)).toMatchObject({
      providerStatus: 'rendering',
      providerUpdatedAt: flow.clock.now(),
    });
  });
});

describe('the cost of an attempt', () => {
  const booked = (flow: Flow): Promise<Record<string, unknown>[]> =>
    flow.look(`SELECT amount::text AS amount, currency FROM provider_costs`);

  it('that is booked stays when another is told later, and the platform must look', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'failed_charged' });
    await flow.finishJob(id);
    await flow.drain();
    const costs = [{ amount: '0.040000', currency: 'USD' }];
    expect(await booked(flow)).toEqual(costs);
    const attempt = await flow.attempt(id);
    const failed = { status: 'FAILED', rawStatus: 'failed' } as const;
    await say(flow, attempt, { ...failed, charge: { amount: '00.04', currency: 'USD' } });
    await flow.drain();
    expect(await flow.findings()).toEqual([]);
    await say(flow, attempt, { ...failed, charge: { amount: '0.75', currency: 'USD' } });
    await flow.drain();
    expect((await flow.attempt(id)).costAmount).toBe(attempt.costAmount);
    expect(await booked(flow)).toEqual(costs);
    expect(await flow.look(`SELECT kind, detail FROM findings`)).toMatchObject([
      { kind: 'LATE_COST', detail: { bookedAmount: attempt.costAmount, observedAmount: '0.75' } },
    ]);
    await say(flow, attempt, { ...failed, charge: { amount: '0.04', currency: 'EUR' } });
    await flow.drain();
    expect((await flow.attempt(id)).costCurrency).toBe('USD');
    expect(await flow.look(`SELECT detail FROM findings`)).toMatchObject([
      { detail: { bookedCurrency: 'USD', observedCurrency: 'EUR' } },
    ]);
  });

  it('that is told for the first time after the end is stored and booked', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'failed_charged' });
    await flow.jobReached(id, 'failed');
    const attempt = await flow.attempt(id);
    const failed = { status: 'FAILED', rawStatus: 'failed' } as const;
    await say(flow, attempt, { ...failed, failure: { kind: 'POLICY_REJECTED', code: 'policy' } });
    await flow.drain();
    expect((await flow.task(id)).status).toBe('FAILED_FINAL');
    expect(await booked(flow)).toEqual([]);
    await say(flow, attempt, { ...failed, charge: { amount: '0.04', currency: 'USD' } });
    await flow.drain();
    expect(await flow.attempt(id)).toMatchObject({ status: 'FAILED', costCurrency: 'USD' });
    expect(await booked(flow)).toEqual([{ amount: '0.040000', currency: 'USD' }]);
    expect(await flow.findings()).toEqual([]);
  });
});

describe('around the end', () => {
  it('100 polls, a callback and a cancel see one SETTLE, whoever is first (case 8)', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const { id } = await flow.submit();
    const { requestKey } = await flow.attempt(id);
    const end = await flow.callbacks.arrived(requestKey, 'succeeded');
    for (let round = 0; round < 4; round += 1) {
      flow.clock.advance(60_000);
      await Promise.all([
        ...Array.from({ length: 25 }, () => flow.poll()),
        flow.callbacks.admit(end).catch(() => undefined),
        ...Array.from({ length: 10 }, () => flow.task(id)),
      ]);
      await flow.relay();
      await flow.deliverAtOnce('reducer', 2);
      await flow.drain();
      await flow.cancel(id);
    }
    expect((await flow.task(id)).status).toBe('SUCCEEDED');
    expect(await flow.ledger(id)).toMatchObject([
      { kind: 'RESERVE' },
      { kind: 'SETTLE', amount: PRICE_MICROS },
    ]);
  });
});

describe('a cancel', () => {
  it('waits for a query to say so when the provider only took note (case 31)', async () => {
    const flow = await open();
    const { id } = await flow.submit({
      fault: ['cancel_slow', 'callback_never'],
      faultParams: { cancel_ms: 400 },
    });
    await flow.jobReached(id, 'processing');
    expect(await flow.cancel(id)).toMatchObject({ stopped: false });
    await flow.drain();
    expect((await flow.task(id)).status).toBe('CANCEL_REQUESTED');
    expect((await flow.attempt(id)).cancelStatus).toBe('REQUESTED');
    expect(await flow.finishJob(id)).toMatchObject({
      status: 'CANCELED',
      cancelOutcome: 'CONFIRMED',
    });
    expect(await flow.ledger(id)).toMatchObject([{ kind: 'RESERVE' }, { kind: 'RELEASE' }]);
  });

  it('that the provider took but did not obey keeps the result (case 31)', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const { id } = await flow.submit({ fault: ['cancel_completes', 'callback_never'] });
    await flow.jobReached(id, 'processing');
    await flow.cancel(id);
    await flow.relay();
    await flow.deliver('provider');
    expect(await flow.finishJob(id)).toMatchObject({
      status: 'OUTPUT_FETCHING',
      cancelOutcome: 'TOO_LATE',
    });
    await flow.drain();
    expect(await flow.task(id)).toMatchObject({ status: 'SUCCEEDED', cancelOutcome: 'TOO_LATE' });
  });

  it('that the provider refuses is recorded once, and the job is followed to its end', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: ['cancel_refused', 'callback_never'] });
    await flow.jobReached(id, 'processing');
    await flow.cancel(id);
    await flow.relay();
    await flow.deliver('provider');
    expect(await flow.attempt(id)).toMatchObject({ cancelStatus: 'UNSUPPORTED' });
    expect((await flow.history(id)).at(-1)).toBe('cancel_refused');
    expect(await flow.finishJob(id)).toMatchObject({
      status: 'OUTPUT_FETCHING',
      cancelOutcome: 'TOO_LATE',
    });
  });

  it('is charged by the rule of the provider when it says so', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: ['hang', 'cancel_charged'] });
    await flow.jobReached(id, 'processing');
    await flow.cancel(id);
    await flow.drain();
    expect((await flow.finishJob(id)).status).toBe('CANCELED');
    const [, settled, released] = await flow.ledger(id);
    expect(settled).toMatchObject({ kind: 'SETTLE', reason: 'CANCELED_CHARGED' });
    expect((settled?.amount ?? 0n) + (released?.amount ?? 0n)).toBe(PRICE_MICROS);
  });

  it('is for the running attempt though an earlier one was given up for lost', async () => {
    const flow = await open({ undecidablePolicy: 'RETRY' });
    await flow.sandbox.queueFaults(['answer_lost']);
    const { id } = await flow.submit();
    // The list of the provider cannot be had for longer than the unknown may last.
    const { id: lost } = await flow.attempt(id);
    await flow.look(
      `UPDATE task_attempts SET sent_at = sent_at - interval '1 day', request_key = 'nobody', callback_url = 'http://nobody' WHERE id = $1`,
      [lost],
    );
    await flow.look(`UPDATE providers SET absence_grace_ms = 100000000`);
    for (
      let asked = 0;
      asked < 4 && (await flow.task(id)).status === 'SUBMIT_UNKNOWN';
      asked += 1
    ) {
      flow.clock.advance(20_000);
      await flow.drain();
    }
    expect(await flow.findings()).toEqual(['COST_RISK_UNKNOWN_SUBMIT']);
    flow.clock.advance(60_000);
    await flow.sandbox.queueFaults(['hang']);
    await flow.runPass();
    await flow.drain(['reducer']);
    expect(await flow.task(id)).toMatchObject({ currentAttemptNo: 2, status: 'SUBMITTED' });
    await flow.cancel(id);
    await flow.relay();
    await flow.deliver('provider');
    const { jobId } = await flow.attempt(id);
    const job = (await flow.sandbox.jobs()).find((each) => each.id === jobId);
    expect(job?.cancelRequestedAt).not.toBeNull();
  });
});

describe('cancel against completion', () => {
  const ready = async (flow: Flow): Promise<string> => {
    const { id } = await flow.submit({ fault: 'callback_never' });
    await flow.jobReached(id);
    return id;
  };
  const expectKept = async (flow: Flow, id: string): Promise<void> => {
    await flow.drain();
    expect(await flow.task(id)).toMatchObject({ status: 'SUCCEEDED', cancelOutcome: 'TOO_LATE' });
    expect(await flow.ledger(id)).toMatchObject([{ kind: 'RESERVE' }, { kind: 'SETTLE' }]);
    const [job] = await flow.jobs(id);
    expect(job).toMatchObject({ status: 'succeeded', cancelRequestedAt: null });
  };

  it('completion seen first: the cancel comes too late, and says so', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const id = await ready(flow);
    await flow.poll();
    await reduceAll(flow);
    expect(await flow.cancel(id)).toMatchObject({ kind: 'ACCEPTED', stopped: false });
    await expectKept(flow, id);
  });

  it('cancel asked first, completion reduced before the provider is told', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const id = await ready(flow);
    await flow.cancel(id);
    await flow.poll();
    await reduceAll(flow);
    await flow.deliver('provider');
    await expectKept(flow, id);
  });

  it('cancel asked first, and the provider asked before completion is seen: it is never told to stop a finished job', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const id = await ready(flow);
    await flow.cancel(id);
    await flow.relay();
    await flow.deliver('provider');
    expect((await flow.task(id)).status).toBe('CANCEL_REQUESTED');
    await expectKept(flow, id);
  });

  it('both at once, again and again', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const ids = [await ready(flow), await ready(flow), await ready(flow), await ready(flow)];
    await flow.poll();
    await Promise.all(ids.slice(0, 2).map((id) => flow.cancel(id)));
    await flow.relay();
    await Promise.all([
      flow.deliverAtOnce('reducer', 2),
      flow.deliverAtOnce('provider', 2),
      ...ids.map((id) => flow.cancel(id)),
    ]);
    for (const id of ids) await expectKept(flow, id);
  }, 120_000);

  it('a result after CANCELED is not published; its cost is kept and it is shown as late (case 32)', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: ['hang', 'callback_never'] });
    await flow.cancel(id);
    await flow.drain();
    expect((await flow.finishJob(id)).status).toBe('CANCELED');
    const before = await flow.task(id);
    await say(flow, await flow.attempt(id), {
      status: 'SUCCEEDED',
      rawStatus: 'succeeded',
      outputs: [{ index: 0, url: 'http://127.0.0.1/late', expiresAt: null }],
    });
    await flow.drain();
    expect(await flow.task(id)).toEqual(before);
    expect(await flow.findings()).toEqual(['LATE_RESULT']);
    expect((await flow.history(id)).at(-1)).toBe('!TERMINAL');
    expect(await flow.look(`SELECT id FROM assets WHERE task_id = $1`, [id])).toEqual([]);
  });
});

describe('a deadline', () => {
  it('while a job runs asks the provider to stop, and the task expires when it has', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'hang' });
    await flow.jobReached(id, 'processing');
    flow.clock.advance(flow.context.settings.taskDeadlineMs + 1);
    expect(await expireOverdue(flow.context, flow.slots)).toBe(1);
    expect(await flow.task(id)).toMatchObject({
      status: 'CANCEL_REQUESTED',
      cancelReason: 'DEADLINE',
    });
    await flow.drain();
    expect(await flow.finishJob(id)).toMatchObject({
      status: 'EXPIRED',
      cancelOutcome: 'CONFIRMED',
    });
    expect(await flow.ledger(id)).toMatchObject([{ kind: 'RESERVE' }, { kind: 'RELEASE' }]);
  });

  it('whose cancel is never confirmed ends with the recovery window; a result after it is late, its cost recorded (case 32)', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: ['cancel_completes', 'callback_never'] });
    await flow.jobReached(id, 'processing');
    flow.clock.advance(flow.context.settings.taskDeadlineMs + 1);
    await expireOverdue(flow.context, flow.slots);
    flow.clock.advance(flow.context.settings.recoveryWindowMs + 1);
    expect(await expireOverdue(flow.context, flow.slots)).toBe(1);
    expect((await flow.task(id)).status).toBe('EXPIRED');
    expect(await flow.ledger(id)).toMatchObject([
      { kind: 'RESERVE' },
      { kind: 'RELEASE', reason: 'CHARGE_UNKNOWN_RELEASED' },
    ]);
    // The cancel was still under way; the provider takes it and completes all the same.
    const { jobId } = await flow.attempt(id);
    await flow.provider.gatewayOf('sandbox').cancel(flow.account, jobId ?? '');
    expect((await flow.finishJob(id)).status).toBe('EXPIRED');
    await flow.drain();
    expect(await flow.findings()).toEqual(['COST_RISK_CANCEL_UNCONFIRMED', 'LATE_RESULT']);
    expect(await flow.attempt(id)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await flow.look('SELECT source FROM provider_costs')).toEqual([{ source: 'ATTEMPT' }]);
    expect(await flow.look(`SELECT id FROM assets WHERE task_id = $1`, [id])).toEqual([]);
  });
});
