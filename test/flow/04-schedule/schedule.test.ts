import { decideGenerationReview } from '../../../src/flow/operate/decide-review';
import { rebuildSlots } from '../../../src/flow/reconcile/recover-resources';
import { runSchedulePass } from '../../../src/flow/schedule/run-scheduler';
import { SlotsUnavailableError } from '../../../src/ports/slots';
import { useFlow, type Flow } from '../../support/flow-harness';
import { SimulatedCrash } from '../../support/flow/message-driver';
import { ACCOUNT, PRICE_MICROS } from '../../support/flow/seed-catalog';
import { uploadPicture } from '../../support/flow/uploads';

const open = useFlow();
const SCOPES = ['platform', 'provider:sandbox', `account:${ACCOUNT}`];

const usageOf = async (flow: Flow): Promise<Record<string, number>> =>
  flow.slots.usage([...SCOPES, `tenant:${flow.tenantId}`]);

describe('the scheduler', () => {
  it('gives a queued task an attempt with what will be sent, and a slot on each of four levels', async () => {
    const flow = await open();
    const { id } = await flow.create();
    await flow.relay();
    await flow.deliver('scheduler');
    expect(await flow.task(id)).toMatchObject({
      status: 'DISPATCHING',
      currentAttemptNo: 1,
      selectedAccount: ACCOUNT,
    });
    expect(await flow.attempt(id)).toMatchObject({
      status: 'NEW',
      attemptNo: 1,
      sent: { seed: 7, durationMs: 2_000, resolution: '480p', priceMicros: String(PRICE_MICROS) },
    });
    expect(Object.values(await usageOf(flow))).toEqual([1, 1, 1, 1]);
  });

  test('the inbox of scheduler stops a repeat', async () => {
    const flow = await open({ accountConcurrentMax: 1 });
    const { id } = await flow.create({ fault: 'reject_503' });
    await flow.relay();
    const [queued] = await flow.deliver('scheduler');
    if (queued === undefined) throw new Error('nothing was queued');
    await flow.drain(['reducer']);
    const other = await flow.submit({ fault: 'hang' });
    flow.clock.advance(60_000);
    await flow.runPass();
    await flow.cancel(other.id);
    await flow.drain();
    await flow.finishJob(other.id);
    // It waits again, under a message of its own, and a slot is free: the old message must not dispatch it once more.
    expect(await flow.task(id)).toMatchObject({ status: 'QUEUED', waitReason: 'SLOTS_FULL' });
    expect(await flow.replay(queued.envelope)).toEqual({ kind: 'DUPLICATE' });
    expect(await flow.attempts(id)).toHaveLength(1);
    expect(Object.values(await usageOf(flow))).toEqual([0, 0, 0, 0]);
  });

  it('sends nothing while slots cannot be counted, says why, and goes on when they can', async () => {
    const flow = await open();
    const { id } = await flow.create();
    await flow.relay();
    await flow.lose('scheduler');
    const away = jest
      .spyOn(flow.slots, 'acquire')
      .mockRejectedValue(new SlotsUnavailableError('away'));
    expect(await flow.runPass()).toMatchObject({ dispatched: 0, waiting: 1 });
    expect(await flow.task(id)).toMatchObject({
      status: 'QUEUED',
      waitReason: 'SLOTS_UNAVAILABLE',
    });
    away.mockRestore();
    flow.clock.advance(60_000);
    expect(await flow.runPass()).toMatchObject({ dispatched: 1 });
    expect(await flow.attempts(id)).toHaveLength(1);
  });

  it('finds a task whose message was lost', async () => {
    const flow = await open();
    const { id } = await flow.create();
    await flow.relay();
    expect(await flow.lose('scheduler')).toHaveLength(1);
    expect(await flow.runPass()).toMatchObject({ dispatched: 1 });
    expect((await flow.task(id)).status).toBe('DISPATCHING');
  });

  it('makes one attempt of a message that comes many times at once', async () => {
    const flow = await open();
    const { id } = await flow.create();
    await flow.relay();
    const answers = await flow.deliverAtOnce('scheduler', 8);
    expect(answers.filter(({ kind }) => kind === 'APPLIED')).toHaveLength(1);
    expect(await flow.attempts(id)).toHaveLength(1);
    expect(Object.values(await usageOf(flow))).toEqual([1, 1, 1, 1]);
  });

  it('makes one attempt when passes and messages meet', async () => {
    const flow = await open();
    const tasks = await Promise.all(Array.from({ length: 6 }, () => flow.create()));
    await flow.relay();
    await Promise.all([
      flow.deliverAtOnce('scheduler', 2),
      flow.runPass(),
      flow.runPass(),
      flow.runPass(),
    ]);
    await flow.runPass();
    for (const task of tasks) expect(await flow.attempts(task.id)).toHaveLength(1);
    expect(Object.values(await usageOf(flow))).toEqual([6, 6, 6, 6]);
  });

  it('lets a task wait while its account is full, and says why; a freed slot takes it', async () => {
    const flow = await open({ accountConcurrentMax: 1 });
    const first = await flow.submit();
    const second = await flow.create();
    await flow.drain(['reducer', 'output-fetch', 'media']);
    const waiting = await flow.look(
      'SELECT status, wait_reason FROM generation_tasks WHERE id = $1',
      [second.id],
    );
    expect(waiting).toEqual([{ status: 'QUEUED', wait_reason: 'SLOTS_FULL' }]);
    await flow.finishJob(first.id);
    expect(await flow.runPass()).toMatchObject({ dispatched: 1 });
  });

  it('serves another tenant while one is at its limit', async () => {
    const flow = await open({ tenant: { inFlightMax: 1 } });
    const other = await flow.addTenant();
    const mine = [await flow.create(), await flow.create()];
    const theirs = await flow.create({ tenantId: other });
    await flow.relay();
    await flow.lose('scheduler');
    await flow.runPass();
    expect((await flow.task(theirs.id)).status).toBe('DISPATCHING');
    const statuses = await Promise.all(mine.map(async ({ id }) => (await flow.task(id)).status));
    expect(statuses.sort()).toEqual(['DISPATCHING', 'QUEUED']);
  });

  it('is not stopped by one task that cannot be dispatched', async () => {
    const flow = await open();
    const broken = await flow.create();
    const whole = await flow.create();
    await flow.look('DELETE FROM generation_requests WHERE task_id = $1', [broken.id]);
    expect(await flow.runPass()).toMatchObject({ dispatched: 1 });
    expect((await flow.task(whole.id)).status).toBe('DISPATCHING');
  });

  it('ends a task whose deadline is over, unsent, with its hold released', async () => {
    const flow = await open();
    const { id } = await flow.create();
    flow.clock.advance(flow.context.settings.taskDeadlineMs + 1);
    await flow.runPass();
    expect((await flow.task(id)).status).toBe('EXPIRED');
    expect(await flow.ledger(id)).toMatchObject([
      { kind: 'RESERVE' },
      { kind: 'RELEASE', amount: PRICE_MICROS },
    ]);
  });

  it('ends a task whose picture was withdrawn, and waits for a paused model', async () => {
    const flow = await open();
    const imageAssetId = await uploadPicture(flow);
    const withdrawn = await flow.create({ request: { imageAssetId } });
    const waiting = await flow.create();
    await flow.look(`UPDATE assets SET status = 'REJECTED' WHERE id = $1`, [imageAssetId]);
    await flow.look(`UPDATE provider_models SET status = 'PAUSED'`);
    await flow.runPass();
    expect(await flow.task(withdrawn.id)).toMatchObject({
      status: 'FAILED_FINAL',
      lastErrorCode: 'INPUT_WITHDRAWN',
    });
    expect(await flow.task(waiting.id)).toMatchObject({
      status: 'QUEUED',
      waitReason: 'PROVIDER_PAUSED',
    });
    await flow.look(`UPDATE provider_models SET status = 'RETIRED'`);
    flow.clock.advance(flow.context.settings.admissionRetryMs);
    await flow.runPass();
    expect(await flow.task(waiting.id)).toMatchObject({
      status: 'FAILED_FINAL',
      lastErrorCode: 'NO_CAPABLE_MODEL',
    });
    expect((await flow.balance()).heldMicros).toBe(0n);
  });
});

describe('a slot', () => {
  it('of a scheduler that was killed before its commit returns after its lease, and the task is served (case 20)', async () => {
    const flow = await open({ accountConcurrentMax: 1 });
    const { id } = await flow.create();
    flow.crashAt('schedule.after_slot_before_commit');
    await flow.relay();
    await expect(flow.deliver('scheduler')).rejects.toThrow(SimulatedCrash);
    flow.disarm();
    flow.clock.advance(20_000);
    await flow.drain();
    expect(await flow.task(id)).toMatchObject({ status: 'QUEUED', waitReason: 'SLOTS_FULL' });
    await rebuildSlots(flow.context, flow.slots);
    expect(Object.values(await usageOf(flow))).toEqual([1, 1, 1, 1]);
    flow.clock.advance(flow.context.settings.slotTtlMs);
    await flow.look('UPDATE generation_tasks SET deadline_at = $1', [
      new Date(flow.clock.now().getTime() + 60_000),
    ]);
    expect(await rebuildSlots(flow.context, flow.slots)).toBe(1);
    expect(await flow.findings()).toEqual(['SLOT_DRIFT']);
    await flow.runPass();
    expect((await flow.task(id)).status).toBe('DISPATCHING');
    expect(Object.values(await usageOf(flow))).toEqual([1, 1, 1, 1]);
  });

  it('is rebuilt from the attempts after everything about slots was lost (case 20)', async () => {
    const flow = await open();
    const running = [await flow.submit({ fault: 'hang' }), await flow.submit({ fault: 'hang' })];
    await flow.look('DELETE FROM slot_leases');
    await flow.look('DELETE FROM slot_scopes');
    expect(await rebuildSlots(flow.context, flow.slots)).toBe(2);
    expect(Object.values(await usageOf(flow))).toEqual([2, 2, 2, 2]);
    // The old tokens are fenced: a job that ends now gives back what was rebuilt only by the reconciler.
    for (const { id } of running) await flow.cancel(id);
    await flow.drain();
    for (const { id } of running) await flow.finishJob(id);
    await rebuildSlots(flow.context, flow.slots);
    flow.clock.advance(flow.context.settings.slotTtlMs + 1);
    await rebuildSlots(flow.context, flow.slots);
    expect(Object.values(await usageOf(flow))).toEqual([0, 0, 0, 0]);
  });
});

describe('a cancel before dispatch', () => {
  it('releases everything and the provider sees no call (case 30)', async () => {
    const flow = await open();
    const { id } = await flow.create();
    expect(await flow.cancel(id)).toMatchObject({ kind: 'ACCEPTED', stopped: true });
    await flow.drain();
    await flow.runPass();
    expect(await flow.task(id)).toMatchObject({
      status: 'CANCELED',
      cancelOutcome: 'BEFORE_SUBMIT',
    });
    expect(await flow.ledger(id)).toMatchObject([
      { kind: 'RESERVE' },
      { kind: 'RELEASE', amount: PRICE_MICROS, reason: 'NEVER_SUBMITTED' },
    ]);
    expect(await flow.attempts(id)).toEqual([]);
    expect(await flow.cancel(id)).toMatchObject({ kind: 'ALREADY_FINISHED' });
  });

  it('of a pending task touches no running one, of the same or another tenant (case 30)', async () => {
    const flow = await open();
    const other = await flow.addTenant();
    const mine = await flow.submit({ fault: 'hang' });
    const theirs = await flow.submit({ tenantId: other, fault: 'hang' });
    const pending = await flow.create();
    expect(await flow.cancel(pending.id, other)).toEqual({ kind: 'NOT_FOUND' });
    await flow.cancel(pending.id);
    await flow.drain();
    expect((await flow.task(mine.id)).cancelRequestedAt).toBeNull();
    expect((await flow.task(theirs.id)).cancelRequestedAt).toBeNull();
    const asked = (await flow.sandbox.jobs()).filter((job) => job.cancelRequestedAt !== null);
    const own = [...(await flow.jobs(mine.id)), ...(await flow.jobs(theirs.id))].map(
      (job) => job.id,
    );
    expect(asked.filter((job) => own.includes(job.id))).toEqual([]);
  });

  it('meeting its dispatch ends either unsent or asked to stop, never both', async () => {
    const flow = await open();
    const tasks = await Promise.all(Array.from({ length: 8 }, () => flow.create()));
    await flow.relay();
    await Promise.all([
      flow.deliverAtOnce('scheduler', 1),
      runSchedulePass(flow.context, flow.schedule, 100),
      ...tasks.map(({ id }) => flow.cancel(id)),
    ]);
    await flow.drain();
    for (const { id } of tasks) {
      expect(await flow.task(id)).toMatchObject({
        status: 'CANCELED',
        cancelOutcome: 'BEFORE_SUBMIT',
      });
      expect(await flow.jobs(id)).toEqual([]);
    }
    expect(Object.values(await usageOf(flow))).toEqual([0, 0, 0, 0]);
    expect((await flow.balance()).heldMicros).toBe(0n);
  });

  it('is told again with the same answer and is legal while a person decides (case 33)', async () => {
    const flow = await open();
    const reviewed = await flow.create({ request: { prompt: 'A nude statue' } });
    expect(await flow.cancel(reviewed.id)).toMatchObject({ stopped: true });
    expect(
      await decideGenerationReview(flow.context, reviewed.id, {
        verdict: 'APPROVE',
        actor: 'a',
        reason: 'r',
      }),
    ).toMatchObject({ code: 'NOT_IN_REVIEW' });
    const running = await flow.submit({ fault: 'hang' });
    expect(await flow.cancel(running.id)).toMatchObject({ stopped: false, repeated: false });
    const { version } = await flow.task(running.id);
    expect(await flow.cancel(running.id)).toMatchObject({ stopped: false, repeated: true });
    expect((await flow.task(running.id)).version).toBe(version);
  });
});
