import {
  decideUnknownSubmit,
  type SubmitDecision,
} from '../../../src/flow/operate/decide-unknown-submit';
import { rebuildSlots } from '../../../src/flow/reconcile/recover-resources';
import { useFlow, type Flow } from '../../support/flow-harness';
import { SimulatedCrash } from '../../support/flow/message-driver';
import { auditOf, expectRefused, NOBODY, ORDER } from '../../support/flow/operator';

const open = useFlow();

const decide = (flow: Flow, attemptId: string, decision: Partial<SubmitDecision>) =>
  decideUnknownSubmit(flow.context, flow.provider, attemptId, {
    verdict: 'GIVE_UP',
    jobId: null,
    ...ORDER,
    ...decision,
  });

/** A submit whose answer was lost; the provider has its job, or not. */
const lose = async (flow: Flow, hasJob: boolean, tenantId = flow.tenantId) => {
  const fault = hasJob ? ['answer_lost', 'hang'] : 'not_created_lost';
  const { id } = await flow.submit({ fault, tenantId });
  const attempt = await flow.attempt(id);
  expect(attempt.status).toBe('UNKNOWN');
  return { id, attemptId: attempt.id };
};

const jobOf = async (flow: Flow, id: string): Promise<string> => {
  const [job] = await flow.jobs(id);
  if (job === undefined) throw new Error('the provider has no job');
  return job.id;
};

/** A job of the same account that somebody made by hand: for nobody, of another prompt. */
const makeForeignJob = async ({ sandbox }: Flow): Promise<string> => {
  const answer = await fetch(`${sandbox.url}/v1/videos`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ model: 'sandbox-video-1', prompt: 'somebody else’s', duration_ms: 1_000 },
      ...{ resolution: '480p', aspect_ratio: '16:9', seed: 1, audio: false },
    }),
  });
  const { id } = (await answer.json()) as { readonly id?: string };
  if (id === undefined) throw new Error(`The provider made no job: ${answer.status}`);
  return id;
};

const slotsInUse = async (flow: Flow) => (await flow.slots.usage(['platform']))['platform'] ?? 0;

describe('an unknown submit', () => {
  it('is bound to the job that a person found, and goes on without another submit', async () => {
    const flow = await open();
    const { id, attemptId } = await lose(flow, true);
    const jobId = await jobOf(flow, id);
    const decided = await decide(flow, attemptId, { verdict: 'BIND', jobId });
    expect(decided).toMatchObject({
      kind: 'DONE',
      result: { attempt: { status: 'ACKED', jobId } },
    });
    expect(await flow.task(id)).toMatchObject({ status: 'SUBMITTED', currentAttemptNo: 1 });
    expect(await flow.history(id)).toContain('operator_bound');
    await flow.poll();
    await flow.drain();
    expect((await flow.task(id)).status).toBe('RUNNING');
    expect(await flow.jobs(id)).toHaveLength(1);
    expect(await auditOf(flow)).toEqual([
      {
        action: 'submit.bind',
        subject: 'ATTEMPT',
        reason: ORDER.reason,
        refused: null,
        before: {
          generationId: id,
          generationStatus: 'SUBMIT_UNKNOWN',
          attemptStatus: 'UNKNOWN',
          jobId: null,
        },
        after: {
          generationId: id,
          generationStatus: 'SUBMITTED',
          attemptStatus: 'ACKED',
          jobId,
        },
      },
    ]);
  });

  it('declared absent is sent again, and only then', async () => {
    const flow = await open();
    const { id, attemptId } = await lose(flow, false);
    expect(await slotsInUse(flow)).toBe(1);
    await decide(flow, attemptId, { verdict: 'DECLARE_ABSENT' });
    expect((await flow.task(id)).status).toBe('RETRY_WAIT');
    expect((await flow.attempt(id)).status).toBe('FAILED_BEFORE_ACCEPT');
    expect(await slotsInUse(flow)).toBe(0);
    await flow.runPass();
    await flow.drain(['reducer', 'reconciler']);
    expect(await flow.attempts(id)).toHaveLength(2);
  });

  it('gets a new attempt by a recorded decision: the old one is given up, watched and a cost risk', async () => {
    const flow = await open();
    const { id, attemptId } = await lose(flow, true);
    await decide(flow, attemptId, { verdict: 'NEW_ATTEMPT' });
    expect((await flow.task(id)).status).toBe('RETRY_WAIT');
    const [first] = await flow.attempts(id);
    expect(first).toMatchObject({ status: 'ABANDONED', jobId: null });
    expect(first?.watchedUntil).not.toBeNull();
    expect(await flow.findings()).toEqual(['COST_RISK_UNKNOWN_SUBMIT']);
    expect(await slotsInUse(flow)).toBe(0);
    expect(await flow.history(id)).toContain('undecidable_window_over');
    await flow.runPass();
    await flow.drain(['reducer', 'reconciler']);
    expect((await flow.attempts(id)).map(({ status }) => status)).toEqual(['ABANDONED', 'UNKNOWN']);
  });

  it('given up ends the generation, gives the credits back and keeps the watch', async () => {
    const flow = await open();
    const before = await flow.balance();
    const { id, attemptId } = await lose(flow, true);
    await decide(flow, attemptId, { verdict: 'GIVE_UP' });
    expect(await flow.task(id)).toMatchObject({
      status: 'EXPIRED',
      lastErrorCode: 'SUBMIT_UNDECIDABLE',
    });
    expect(await flow.ledger(id)).toMatchObject([{ kind: 'RESERVE' }, { kind: 'RELEASE' }]);
    expect(await flow.balance()).toEqual(before);
    expect(await flow.findings()).toEqual(['COST_RISK_UNKNOWN_SUBMIT']);
    // The job turns up by itself later: it is told, and stopped.
    flow.clock.advance(60_000);
    await flow.drain();
    expect((await flow.attempt(id)).jobId).toBe(await jobOf(flow, id));
    expect((await flow.task(id)).status).toBe('EXPIRED');
  });

  it('that somebody cancelled ends as cancelled when it is declared absent', async () => {
    const flow = await open();
    const { id, attemptId } = await lose(flow, false);
    await flow.cancel(id);
    await expectRefused(flow, 'NOT_ALLOWED', () =>
      decide(flow, attemptId, { verdict: 'NEW_ATTEMPT' }),
    );
    await decide(flow, attemptId, { verdict: 'DECLARE_ABSENT' });
    expect(await flow.task(id)).toMatchObject({
      status: 'CANCELED',
      cancelOutcome: 'BEFORE_SUBMIT',
    });
  });

  it('that somebody cancelled is stopped at the provider when its job is bound', async () => {
    const flow = await open();
    const { id, attemptId } = await lose(flow, true);
    await flow.cancel(id);
    await decide(flow, attemptId, { verdict: 'BIND', jobId: await jobOf(flow, id) });
    expect((await flow.task(id)).status).toBe('CANCEL_REQUESTED');
    await flow.drain();
    await flow.jobReached(id, 'canceled');
  });

  it('of an earlier attempt is adopted while the generation waits for its next one', async () => {
    const flow = await open({ undecidablePolicy: 'RETRY' });
    const { id, attemptId } = await lose(flow, true);
    const jobId = await jobOf(flow, id);
    await abandonByPolicy(flow, id);
    await expectRefused(flow, 'ALREADY_DECIDED', () => decide(flow, attemptId, {}));
    await decide(flow, attemptId, { verdict: 'BIND', jobId });
    expect(await flow.task(id)).toMatchObject({ status: 'SUBMITTED', currentAttemptNo: 1 });
  });

  it('of an earlier attempt declared absent ends a cancel that waited for nothing else', async () => {
    const flow = await open({ undecidablePolicy: 'RETRY' });
    const { id, attemptId } = await lose(flow, false);
    await abandonByPolicy(flow, id);
    await flow.cancel(id);
    expect((await flow.task(id)).status).toBe('CANCEL_REQUESTED');
    await decide(flow, attemptId, { verdict: 'DECLARE_ABSENT' });
    expect((await flow.task(id)).status).toBe('CANCELED');
  });
});

/** The window ends before any list was believed. */
const abandonByPolicy = async (flow: Flow, id: string): Promise<void> => {
  await flow.look(`UPDATE providers SET absence_grace_ms = 100000000`);
  const { requestKey } = await flow.attempt(id);
  await flow.look(`UPDATE task_attempts SET request_key = 'hidden-' || id, callback_url = 'x'`);
  for (let asked = 0; asked < 80; asked += 1) {
    if ((await flow.task(id)).status === 'RETRY_WAIT') break;
    flow.clock.advance(30_000);
    await flow.drain();
  }
  expect((await flow.attempt(id)).status).toBe('ABANDONED');
  await flow.look(`UPDATE task_attempts SET request_key = $1`, [requestKey]);
};

describe('a decision on a submit', () => {
  const SECOND: [Partial<SubmitDecision>, Partial<SubmitDecision>][] = [
    [{ verdict: 'GIVE_UP' }, { verdict: 'GIVE_UP' }],
    [{ verdict: 'GIVE_UP' }, { verdict: 'DECLARE_ABSENT' }],
    [{ verdict: 'NEW_ATTEMPT' }, { verdict: 'NEW_ATTEMPT' }],
    [{ verdict: 'NEW_ATTEMPT' }, { verdict: 'BIND' }],
    [{ verdict: 'BIND' }, { verdict: 'DECLARE_ABSENT' }],
  ];

  it.each(SECOND)('is made once: after %o comes no %o', async (first, second) => {
    const flow = await open();
    const { id, attemptId } = await lose(flow, true);
    const jobId = await jobOf(flow, id);
    const withJob = (decision: Partial<SubmitDecision>) =>
      decision.verdict === 'BIND' ? { ...decision, jobId } : decision;
    expect(await decide(flow, attemptId, withJob(first))).toMatchObject({ kind: 'DONE' });
    await expectRefused(flow, 'ALREADY_DECIDED', () => decide(flow, attemptId, withJob(second)));
  });

  it('of two operators at once has one winner', async () => {
    const flow = await open();
    const { id, attemptId } = await lose(flow, true);
    const jobId = await jobOf(flow, id);
    const outcomes = await Promise.all([
      decide(flow, attemptId, { verdict: 'BIND', jobId }),
      decide(flow, attemptId, { verdict: 'NEW_ATTEMPT' }),
      decide(flow, attemptId, { verdict: 'GIVE_UP' }),
      decide(flow, attemptId, { verdict: 'GIVE_UP' }),
    ]);
    expect(outcomes.filter(({ kind }) => kind === 'DONE')).toHaveLength(1);
    const refused = (await auditOf(flow)).map((each) => each.refused ?? 'DONE');
    expect(refused.sort()).toEqual([
      'ALREADY_DECIDED',
      'ALREADY_DECIDED',
      'ALREADY_DECIDED',
      'DONE',
    ]);
  });

  it('is refused without a reason, of something else, of what is not there or not in doubt', async () => {
    const flow = await open();
    const { id, attemptId } = await lose(flow, false);
    await expectRefused(flow, 'REASON_REQUIRED', () => decide(flow, attemptId, { reason: '  ' }));
    await expectRefused(flow, 'NOT_FOUND', () => decide(flow, NOBODY, {}));
    await expectRefused(flow, 'NOT_FOUND', () => decide(flow, id, {}));
    await expectRefused(flow, 'JOB_REQUIRED', () => decide(flow, attemptId, { verdict: 'BIND' }));
    await expectRefused(flow, 'JOB_UNEXPECTED', () => decide(flow, attemptId, { jobId: 'vid_1' }));
    const running = await flow.submit({ fault: 'hang' });
    const acked = await flow.attempt(running.id);
    await expectRefused(flow, 'NOT_UNKNOWN', () => decide(flow, acked.id, {}));
  });

  it('binds no job that the provider does not know, that was made for another submit, or that is taken', async () => {
    const flow = await open();
    const { attemptId } = await lose(flow, false);
    const bind = (jobId: string) => () => decide(flow, attemptId, { verdict: 'BIND', jobId });
    await expectRefused(flow, 'JOB_NOT_FOUND', bind('vid_never'));
    const other = await lose(flow, true);
    await expectRefused(flow, 'JOB_NOT_OURS', bind(await jobOf(flow, other.id)));
    const taken = await flow.submit({ fault: 'hang' });
    await expectRefused(flow, 'JOB_TAKEN', bind(await jobOf(flow, taken.id)));
  });

  it('binds no job that carries no key of ours, whoever made it', async () => {
    const flow = await open();
    const { id, attemptId } = await lose(flow, false);
    const jobId = await makeForeignJob(flow);
    await expectRefused(flow, 'JOB_NOT_OURS', () =>
      decide(flow, attemptId, { verdict: 'BIND', jobId }),
    );
    expect(await flow.ledger(id)).toMatchObject([{ kind: 'RESERVE' }]);
  });

  it.each([
    ['operator.before_commit', 'UNKNOWN'],
    ['operator.after_commit_before_answer', 'ABANDONED'],
  ] as const)('dies whole or not at all: %s', async (point, status) => {
    const flow = await open();
    const { id, attemptId } = await lose(flow, true);
    flow.crashAt(point);
    await expect(decide(flow, attemptId, {})).rejects.toThrow(SimulatedCrash);
    flow.disarm();
    expect((await flow.attempt(id)).status).toBe(status);
    expect(await auditOf(flow)).toHaveLength(status === 'UNKNOWN' ? 0 : 1);
    // The slot of one that died after its commit is a leak that the reconciler finds.
    flow.clock.advance(flow.context.settings.slotTtlMs + 1);
    await rebuildSlots(flow.context, flow.slots);
    const again = await decide(flow, attemptId, {});
    expect(again.kind).toBe(status === 'UNKNOWN' ? 'DONE' : 'REFUSED');
  });
});
