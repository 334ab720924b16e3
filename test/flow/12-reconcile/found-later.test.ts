import type { Attempt } from '../../../src/domain/attempt/attempt';
import { decideUnknownSubmit } from '../../../src/flow/operate/decide-unknown-submit';
import { rebuildSlots } from '../../../src/flow/reconcile/recover-resources';
import { useFlow, type Flow } from '../../support/flow-harness';
import { reduceAll, say } from '../../support/flow/observations';
import { ORDER } from '../../support/flow/operator';

const open = useFlow();

/** A job whose answer was lost, and that a person, in good faith, declares never made. */
const declareAbsent = async (flow: Flow): Promise<{ id: string; first: Attempt }> => {
  const { id } = await flow.submit({ fault: ['answer_lost', 'hang'] });
  await flow.look(
    `UPDATE generation_requests SET body = jsonb_set(body, '{providerOptions}', '{"fault": "hang"}')`,
  );
  const order = { verdict: 'DECLARE_ABSENT' as const, jobId: null, ...ORDER };
  await decideUnknownSubmit(flow.context, flow.provider, (await flow.attempt(id)).id, order);
  expect((await flow.task(id)).status).toBe('RETRY_WAIT');
  const first = await flow.attempt(id);
  expect(first).toMatchObject({ status: 'FAILED_BEFORE_ACCEPT', jobId: null });
  return { id, first };
};

/** Its own callback comes at last. */
const turnUp = async (flow: Flow, id: string, first: Attempt, status: 'RUNNING' | 'FAILED') => {
  const job = (await flow.jobs(id)).find(({ request }) => request.reference === first.requestKey);
  if (job === undefined) throw new Error('the provider has no job');
  await say(flow, { ...first, jobId: job.id }, { status, rawStatus: status.toLowerCase() });
  await reduceAll(flow);
  return job.id;
};

const slotsInUse = async (flow: Flow) => (await flow.slots.usage(['platform']))['platform'] ?? 0;

const expectAdopted = async (flow: Flow, id: string, jobId: string): Promise<void> => {
  expect(await flow.task(id)).toMatchObject({
    status: 'RUNNING',
    currentAttemptNo: 1,
    scheduleAt: null,
    settledMicros: null,
  });
  const [first] = await flow.attempts(id);
  expect(first).toMatchObject({ status: 'RUNNING', jobId, completedAt: null });
  expect(first?.nextPollAt).not.toBeNull();
  expect(await flow.findings()).toEqual([]);
  expect(await flow.ledger(id)).toMatchObject([{ kind: 'RESERVE' }]);
  expect(await slotsInUse(flow)).toBe(1);
  expect(await rebuildSlots(flow.context, flow.slots)).toBe(0);
  // Nothing more is sent for it.
  flow.clock.advance(60_000);
  await flow.runPass();
  await flow.relay();
  await flow.deliver('provider');
  expect(await flow.jobs(id)).toHaveLength(1);
};

describe('a job that turns up after its absence was believed', () => {
  it('is adopted while the task waits for its retry: no second job is paid', async () => {
    const flow = await open();
    const { id, first } = await declareAbsent(flow);
    const jobId = await turnUp(flow, id, first, 'RUNNING');
    expect(await flow.attempts(id)).toHaveLength(1);
    await expectAdopted(flow, id, jobId);
  });

  it('is adopted while the task is queued', async () => {
    const flow = await open();
    const { id, first } = await declareAbsent(flow);
    await flow.look(`UPDATE tenants SET status = 'PAUSED'`);
    await flow.runPass();
    expect((await flow.task(id)).status).toBe('QUEUED');
    const jobId = await turnUp(flow, id, first, 'RUNNING');
    await flow.look(`UPDATE tenants SET status = 'ACTIVE'`);
    expect(await flow.attempts(id)).toHaveLength(1);
    await expectAdopted(flow, id, jobId);
  });

  it('is adopted while the next attempt has not left: that one is withdrawn, and its slot free', async () => {
    const flow = await open();
    const { id, first } = await declareAbsent(flow);
    await flow.runPass();
    expect((await flow.attempts(id)).map(({ status }) => status)).toEqual([
      'FAILED_BEFORE_ACCEPT',
      'NEW',
    ]);
    const jobId = await turnUp(flow, id, first, 'RUNNING');
    expect((await flow.attempts(id))[1]).toMatchObject({ status: 'CANCELED', jobId: null });
    expect((await flow.task(id)).submitTries).toBe(1);
    await expectAdopted(flow, id, jobId);
  });

  it('holds a slot from then on, and gives it back with its own token', async () => {
    const flow = await open();
    const { id, first } = await declareAbsent(flow);
    expect(await slotsInUse(flow)).toBe(0);
    await turnUp(flow, id, first, 'RUNNING');
    expect(await slotsInUse(flow)).toBe(1);
    await turnUp(flow, id, first, 'FAILED');
    expect(await slotsInUse(flow)).toBe(0);
    expect(await rebuildSlots(flow.context, flow.slots)).toBe(0);
  });

  it('holds its slot also where no limit leaves one: the job runs', async () => {
    const flow = await open({ tenant: { inFlightMax: 1 } });
    const { id, first } = await declareAbsent(flow);
    await flow.look(`UPDATE generation_tasks SET schedule_at = now() + interval '1 year'`);
    const other = await flow.submit({ fault: 'hang' });
    expect(other.status).toBe('SUBMITTED');
    await turnUp(flow, id, first, 'RUNNING');
    expect(await slotsInUse(flow)).toBe(2);
    await turnUp(flow, id, first, 'FAILED');
    expect(await slotsInUse(flow)).toBe(1);
  });

  it('fails like any other: the next attempt has a number of its own', async () => {
    const flow = await open();
    const { id, first } = await declareAbsent(flow);
    await flow.runPass();
    await turnUp(flow, id, first, 'RUNNING');
    await turnUp(flow, id, first, 'FAILED');
    expect((await flow.task(id)).status).toBe('RETRY_WAIT');
    flow.clock.advance(60_000);
    await flow.runPass();
    expect((await flow.task(id)).currentAttemptNo).toBe(3);
    expect((await flow.attempts(id)).map(({ status }) => status)).toEqual([
      'FAILED',
      'CANCELED',
      'NEW',
    ]);
  });

  it('is a duplicate once the next attempt was sent: stopped, a finding, and bound to its attempt', async () => {
    const flow = await open();
    const { id, first } = await declareAbsent(flow);
    await flow.runPass();
    await flow.relay();
    await flow.deliver('provider');
    expect((await flow.attempts(id))[1]?.status).toBe('ACKED');
    const jobId = await turnUp(flow, id, first, 'RUNNING');
    expect(await flow.task(id)).toMatchObject({ status: 'SUBMITTED', currentAttemptNo: 2 });
    expect((await flow.attempts(id))[0]).toMatchObject({ status: 'RUNNING', jobId });
    expect(await flow.findings()).toEqual(['DUPLICATE_PROVIDER_JOB']);
    await flow.relay();
    await flow.deliver('provider');
    expect((await flow.jobReached(id, 'canceled')).id).toBe(jobId);
  });

  it('after the end is stopped, bound and a cost risk; the credits stay returned', async () => {
    const flow = await open();
    const { id, first } = await declareAbsent(flow);
    const before = await flow.balance();
    await flow.cancel(id);
    expect((await flow.task(id)).status).toBe('CANCELED');
    const jobId = await turnUp(flow, id, first, 'RUNNING');
    expect((await flow.task(id)).status).toBe('CANCELED');
    expect((await flow.attempts(id))[0]).toMatchObject({ status: 'RUNNING', jobId });
    expect(await flow.findings()).toEqual(['COST_RISK_UNKNOWN_SUBMIT']);
    expect((await flow.balance()).heldMicros).toBe(before.heldMicros - 6_000_000n);
  });
});

describe('the silence of a provider’s list', () => {
  /** The time-out came long before the provider is done with the create: nothing is in its list yet. */
  const ask = async (flow: Flow, totalMs: number): Promise<void> => {
    for (let passed = 0; passed < totalMs; passed += 10_000) {
      flow.clock.advance(10_000);
      await flow.drain(['scheduler']);
    }
  };

  it('says nothing before the slowest create would be done', async () => {
    const flow = await open();
    await flow.look('UPDATE providers SET create_settles_ms = 90000');
    const { id } = await flow.submit({ fault: 'not_created_lost' });
    await ask(flow, 110_000);
    expect((await flow.attempt(id)).absentSince).not.toBeNull();
    expect((await flow.task(id)).status).toBe('SUBMIT_UNKNOWN');
    await ask(flow, 40_000);
    expect((await flow.task(id)).status).toBe('RETRY_WAIT');
  });

  it('ends no watch: a job that is made later still is found, and adopted', async () => {
    const flow = await open();
    await flow.look('UPDATE providers SET create_settles_ms = 0');
    const { id } = await flow.submit({ fault: ['answer_lost', 'callback_never', 'hang'] });
    const { requestKey, callbackUrl } = await flow.attempt(id);
    await flow.look(`UPDATE task_attempts SET request_key = 'hidden-' || id, callback_url = 'x'`);
    await ask(flow, 60_000);
    expect(await flow.attempt(id)).toMatchObject({ status: 'FAILED_BEFORE_ACCEPT' });
    expect((await flow.attempt(id)).watchedUntil).not.toBeNull();
    await flow.look('UPDATE task_attempts SET request_key = $1, callback_url = $2', [
      requestKey,
      callbackUrl,
    ]);
    await ask(flow, 60_000);
    const [job] = await flow.jobs(id);
    expect(await flow.attempts(id)).toMatchObject([{ attemptNo: 1, jobId: job?.id }]);
    expect(await flow.task(id)).toMatchObject({ currentAttemptNo: 1 });
    expect(await flow.history(id)).toContain('earlier_attempt_job_found');
  });

  it('is asked about no oftener after the whole topic came again and its dedup rows were gone', async () => {
    const flow = await open();
    await flow.look('UPDATE providers SET create_settles_ms = 0');
    const { id } = await flow.submit({ fault: 'not_created_lost' });
    await flow.look(`UPDATE generation_tasks SET schedule_at = schedule_at + interval '1 year'`);
    await ask(flow, 240_000);
    const { id: attemptId, status, reconcileTries } = (await flow.attempts(id))[0] as Attempt;
    expect(status).toBe('FAILED_BEFORE_ACCEPT');
    await flow.look('DELETE FROM inbox_dedup');
    await flow.look('DELETE FROM bus_messages');
    const planned = `SELECT id FROM outbox_events WHERE aggregate_id = '${attemptId}' AND status = 'PENDING'
      AND type = 'attempt.reconcile.requested'`;
    expect(await flow.look(planned)).toHaveLength(1);
    await flow.look(
      `UPDATE outbox_events SET status = 'PENDING', published_at = NULL, available_at = $1
       WHERE status = 'PUBLISHED' AND type = 'attempt.reconcile.requested'`,
      [flow.clock.now()],
    );
    expect((await flow.look(planned)).length).toBeGreaterThan(3);
    await flow.drain(['scheduler']);
    expect(await flow.look(planned)).toHaveLength(1);
    expect((await flow.attempts(id))[0]?.reconcileTries).toBe(reconcileTries);
    await ask(flow, 120_000);
    expect((await flow.attempts(id))[0]?.reconcileTries).toBeGreaterThan(reconcileTries);
  });

  it('is asked about no oftener while it is unknown, either', async () => {
    const flow = await open();
    await flow.look('UPDATE providers SET create_settles_ms = 600000, absence_grace_ms = 35000');
    const { id } = await flow.submit({ fault: 'not_created_lost' });
    await ask(flow, 120_000);
    const { id: attemptId, status, reconcileTries } = await flow.attempt(id);
    expect(status).toBe('UNKNOWN');
    await flow.look('DELETE FROM inbox_dedup');
    await flow.look('DELETE FROM bus_messages');
    await flow.look(
      `UPDATE outbox_events SET status = 'PENDING', published_at = NULL, available_at = $1
       WHERE status = 'PUBLISHED' AND type = 'attempt.reconcile.requested'`,
      [flow.clock.now()],
    );
    await flow.drain(['scheduler']);
    const planned = `SELECT id FROM outbox_events WHERE aggregate_id = '${attemptId}' AND status = 'PENDING'
      AND type = 'attempt.reconcile.requested'`;
    expect((await flow.look(planned)).length).toBeLessThanOrEqual(2);
    expect((await flow.attempt(id)).reconcileTries - reconcileTries).toBeLessThanOrEqual(1);
  });

  it('does not end the watch of one that was given up for lost', async () => {
    const flow = await open();
    await flow.look('UPDATE providers SET create_settles_ms = 0');
    const { id } = await flow.submit({ fault: ['answer_lost', 'callback_never', 'hang'] });
    const { id: attemptId, requestKey, callbackUrl } = await flow.attempt(id);
    await flow.look(`UPDATE task_attempts SET request_key = 'hidden-' || id, callback_url = 'x'`);
    const order = { verdict: 'GIVE_UP' as const, jobId: null, ...ORDER };
    await decideUnknownSubmit(flow.context, flow.provider, attemptId, order);
    const promised = (await flow.attempt(id)).watchedUntil;
    await ask(flow, 120_000);
    expect(await flow.attempt(id)).toMatchObject({
      status: 'FAILED_BEFORE_ACCEPT',
      watchedUntil: promised,
    });
    await flow.look('UPDATE task_attempts SET request_key = $1, callback_url = $2', [
      requestKey,
      callbackUrl,
    ]);
    await ask(flow, 120_000);
    const [job] = await flow.jobs(id);
    expect((await flow.attempt(id)).jobId).toBe(job?.id);
  });
});
