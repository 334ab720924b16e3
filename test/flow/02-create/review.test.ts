import { decideGenerationReview } from '../../../src/flow/operate/decide-review';
import { expireOverdue } from '../../../src/flow/reconcile/recover-tasks';
import { useFlow, type Flow } from '../../support/flow-harness';
import { auditOf, expectRefused } from '../../support/flow/operator';
import { PRICE_MICROS } from '../../support/flow/seed-catalog';

const open = useFlow();
const REVIEWED = { request: { prompt: 'A nude statue by the sea' } };

const decide = (flow: Flow, taskId: string, verdict: 'APPROVE' | 'REJECT') =>
  decideGenerationReview(flow.context, taskId, { verdict, actor: 'operator:1', reason: 'seen' });

describe('a prompt that a person must see', () => {
  it('waits without a hold and is not dispatched', async () => {
    const flow = await open();
    const task = await flow.create(REVIEWED);
    expect(task).toMatchObject({ status: 'VALIDATING', reservedMicros: 0n });
    await flow.drain();
    await flow.runPass();
    expect((await flow.task(task.id)).status).toBe('VALIDATING');
    expect(await flow.ledger(task.id)).toEqual([]);
  });

  it('approved, gets its hold and goes on', async () => {
    const flow = await open();
    const task = await flow.create(REVIEWED);
    expect(await decide(flow, task.id, 'APPROVE')).toMatchObject({ kind: 'DONE' });
    expect(await flow.task(task.id)).toMatchObject({
      status: 'QUEUED',
      reservedMicros: PRICE_MICROS,
    });
    await flow.drain(['reducer', 'output-fetch', 'media']);
    expect((await flow.task(task.id)).status).toBe('SUBMITTED');
    expect(await flow.look(`SELECT action FROM audit_log`)).toEqual([{ action: 'review.approve' }]);
  });

  it('rejected, ends without any credit having moved', async () => {
    const flow = await open();
    const task = await flow.create(REVIEWED);
    await decide(flow, task.id, 'REJECT');
    expect(await flow.task(task.id)).toMatchObject({
      status: 'FAILED_FINAL',
      lastErrorCode: 'MODERATION_REJECTED',
    });
    expect(await flow.ledger(task.id)).toEqual([]);
    expect(await decide(flow, task.id, 'APPROVE')).toMatchObject({ code: 'NOT_IN_REVIEW' });
  });

  it('decided twice at once has one decision', async () => {
    const flow = await open();
    const task = await flow.create(REVIEWED);
    const outcomes = await Promise.all([
      decide(flow, task.id, 'APPROVE'),
      decide(flow, task.id, 'REJECT'),
      decide(flow, task.id, 'APPROVE'),
    ]);
    expect(outcomes.filter(({ kind }) => kind === 'DONE')).toHaveLength(1);
    const refused = (await auditOf(flow)).map((each) => each.refused ?? 'DONE');
    expect(refused.sort()).toEqual(['DONE', 'NOT_IN_REVIEW', 'NOT_IN_REVIEW']);
  });

  it('approved without credits stays in review', async () => {
    const flow = await open({ tenant: { credits: 1n } });
    const task = await flow.create(REVIEWED);
    await expectRefused(flow, 'INSUFFICIENT_CREDITS', () => decide(flow, task.id, 'APPROVE'));
    expect((await flow.task(task.id)).status).toBe('VALIDATING');
  });

  it('can be cancelled, and expires when nobody looks', async () => {
    const flow = await open();
    const canceled = await flow.create(REVIEWED);
    const left = await flow.create(REVIEWED);
    expect(await flow.cancel(canceled.id)).toMatchObject({ kind: 'ACCEPTED', stopped: true });
    flow.clock.advance(flow.context.settings.taskDeadlineMs + 1);
    expect(await expireOverdue(flow.context, flow.slots)).toBe(1);
    expect((await flow.task(left.id)).status).toBe('EXPIRED');
  });
});
