import { rebuildSlots, rescueValidations } from '../../../src/flow/reconcile/recover-resources';
import {
  endMediaWindows,
  expireOverdue,
  recoverLostLeases,
  rescueStuck,
} from '../../../src/flow/reconcile/recover-tasks';
import { MediaToolError } from '../../../src/ports/media-toolkit';
import { useFlow, type CreateChanges, type Flow } from '../../support/flow-harness';
import { expectRepeatStopped, onlyProxy } from '../../support/flow/expectations';
import { SimulatedCrash } from '../../support/flow/message-driver';
import { makePicture, readAsset, uploadBytes } from '../../support/flow/uploads';

const open = useFlow();

const stuckFor = (flow: Flow): void => flow.clock.advance(flow.context.settings.stuckAfterMs + 1);

const dispatch = async (flow: Flow, changes: CreateChanges = {}): Promise<string> => {
  const { id } = await flow.create(changes);
  await flow.relay();
  await flow.deliver('scheduler');
  await flow.relay();
  return id;
};

/** The provider has no such job in its list and never will: the key it knows is another one. */
const hideJob = (flow: Flow, attemptId: string): Promise<unknown> =>
  flow.look(
    `UPDATE task_attempts SET request_key = 'hidden-' || id, callback_url = 'http://127.0.0.1/hidden' WHERE id = $1`,
    [attemptId],
  );

describe('the reconciler', () => {
  test('the inbox of reconciler stops a repeat', async () => {
    const flow = await open();
    await flow.submit({ fault: 'not_created_lost' });
    flow.clock.advance(5_000);
    await flow.relay();
    await expectRepeatStopped(flow, 'reconciler');
  });

  it('believes in the absence of a job only when the list has not shown it for the whole grace', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'not_created_lost' });
    const { sentAt } = await flow.attempt(id);
    const grace = 35_000;
    let absentFor = 0;
    for (
      let asked = 0;
      asked < 20 && (await flow.task(id)).status === 'SUBMIT_UNKNOWN';
      asked += 1
    ) {
      flow.clock.advance(5_000);
      await flow.drain();
      absentFor = flow.clock.now().getTime() - (sentAt?.getTime() ?? 0);
      if (absentFor < grace) expect((await flow.task(id)).status).toBe('SUBMIT_UNKNOWN');
    }
    expect((await flow.task(id)).status).toBe('RETRY_WAIT');
    expect(absentFor).toBeGreaterThanOrEqual(grace);
  });

  it('finds a job that appears in the list late, within the grace', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'answer_lost' });
    const attempt = await flow.attempt(id);
    await hideJob(flow, attempt.id);
    flow.clock.advance(10_000);
    await flow.drain();
    expect((await flow.attempt(id)).absentSince).not.toBeNull();
    await flow.look('UPDATE task_attempts SET request_key = $1 WHERE id = $2', [
      attempt.requestKey,
      attempt.id,
    ]);
    await flow.jobReached(id);
    flow.clock.advance(20_000);
    await flow.drain(['media']);
    expect(await flow.task(id)).toMatchObject({ status: 'POST_PROCESSING', currentAttemptNo: 1 });
  });

  it.each([
    ['EXPIRE', 'EXPIRED', 'EXPIRED'],
    ['RETRY', 'RETRY_WAIT', 'OUTPUT_FETCHING'],
  ] as const)(
    'ends what cannot be decided by the recorded policy: %s',
    async (undecidablePolicy, status, late) => {
      const flow = await open({ undecidablePolicy });
      const { id } = await flow.submit({ fault: 'answer_lost' });
      const attempt = await flow.attempt(id);
      await hideJob(flow, attempt.id);
      await flow.look('UPDATE providers SET absence_grace_ms = 100000000');
      for (
        let asked = 0;
        asked < 80 && (await flow.task(id)).status === 'SUBMIT_UNKNOWN';
        asked += 1
      ) {
        flow.clock.advance(30_000);
        await flow.drain();
      }
      expect((await flow.task(id)).status).toBe(status);
      expect(await flow.attempt(id)).toMatchObject({ status: 'ABANDONED' });
      expect((await flow.attempt(id)).watchedUntil).not.toBeNull();
      expect(await flow.findings()).toEqual(['COST_RISK_UNKNOWN_SUBMIT']);
      expect((await flow.slots.usage(['platform']))['platform']).toBe(0);
      // It is still watched: the job that turns up late is told, and changes nothing that has ended.
      await flow.look('UPDATE task_attempts SET request_key = $1 WHERE id = $2', [
        attempt.requestKey,
        attempt.id,
      ]);
      await flow.jobReached(id);
      flow.clock.advance(60_000);
      await flow.drain(['output-fetch']);
      expect((await flow.attempts(id))[0]).toMatchObject({ status: 'SUCCEEDED' });
      expect((await flow.task(id)).status).toBe(late);
    },
  );

  it('asks about an unknown submit once at a time, however often it looks', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'not_created_lost' });
    await flow.look('UPDATE providers SET absence_grace_ms = 100000000');
    for (let looks = 0; looks < 30; looks += 1) {
      flow.clock.advance(10_000);
      await rescueStuck(flow.context);
      await flow.drain();
      expect((await flow.task(id)).status).toBe('SUBMIT_UNKNOWN');
    }
    const [waiting] = await flow.look(
      `SELECT (SELECT count(*)::int FROM outbox_events WHERE status = 'PENDING' AND type = 'attempt.reconcile.requested')
         + (SELECT count(*)::int FROM bus_messages WHERE consumer_group = 'reconciler') AS messages`,
    );
    expect(waiting).toEqual({ messages: 1 });
    expect(await flow.findings()).toEqual([]);
    await flow.look('UPDATE providers SET absence_grace_ms = 35000');
  });
});

describe('a lost message', () => {
  const rescued: [string, (flow: Flow) => Promise<string>, Parameters<Flow['lose']>[0], string][] =
    [
      ['of the dispatch', (flow) => dispatch(flow), 'provider', 'SUBMITTED'],
      [
        'of the question about an unknown submit',
        async (flow) => {
          const { id } = await flow.submit({ fault: ['answer_lost', 'hang'] });
          flow.clock.advance(5_000);
          await flow.relay();
          return id;
        },
        'reconciler',
        'RUNNING',
      ],
      [
        'of the cancel',
        async (flow) => {
          const { id } = await flow.submit({
            fault: 'cancel_slow',
            faultParams: { cancel_ms: 60_000 },
          });
          await flow.cancel(id);
          await flow.relay();
          return id;
        },
        'provider',
        'CANCEL_REQUESTED',
      ],
      [
        'of the fetch',
        async (flow) => {
          const { id } = await flow.submit();
          await flow.finishJob(id);
          await flow.relay();
          return id;
        },
        'output-fetch',
        'POST_PROCESSING',
      ],
    ];

  it.each(rescued)('%s is written again', async (_, prepare, group, status) => {
    const flow = await open();
    const id = await prepare(flow);
    expect(await flow.lose(group)).not.toHaveLength(0);
    stuckFor(flow);
    const asked =
      (await rescueStuck(flow.context)) + (await recoverLostLeases(flow.context, flow.slots));
    expect(asked).toBeGreaterThan(0);
    expect(await rescueStuck(flow.context)).toBe(0);
    await flow.drain(['media']);
    expect((await flow.task(id)).status).toBe(status);
    if (status === 'CANCEL_REQUESTED')
      expect((await flow.attempt(id)).cancelStatus).toBe('REQUESTED');
  });

  it('is told from one that waits behind others: that one is not doubled, however often it looks', async () => {
    const flow = await open();
    await dispatch(flow);
    for (let looks = 0; looks < 4; looks += 1) {
      stuckFor(flow);
      await rescueStuck(flow.context);
      await flow.relay();
    }
    const [messages] = await flow.look(
      `SELECT (SELECT count(*)::int FROM outbox_events WHERE type = 'attempt.dispatch.requested') AS written,
              (SELECT count(*)::int FROM bus_messages WHERE consumer_group = 'provider') AS waiting`,
    );
    expect(messages).toEqual({ written: 1, waiting: 1 });
  });

  it('of a validation is written again, once', async () => {
    const flow = await open();
    const assetId = await uploadBytes(flow, await makePicture());
    await flow.relay();
    await flow.lose('asset-validator');
    expect(await rescueValidations(flow.context)).toBe(0);
    stuckFor(flow);
    expect(await rescueValidations(flow.context)).toBe(1);
    expect(await rescueValidations(flow.context)).toBe(0);
    await flow.drain();
    expect((await readAsset(flow, assetId)).status).toBe('READY');
  });
});

describe('a lost lease', () => {
  it('of an attempt that was sent makes it unknown; of one that was not, it is asked for again', async () => {
    const flow = await open();
    const sent = await dispatch(flow);
    flow.crashAt('submit.after_sending_before_http');
    await expect(flow.deliver('provider')).rejects.toThrow(SimulatedCrash);
    flow.disarm();
    const unsent = await dispatch(flow);
    await flow.lose('provider');
    expect(await recoverLostLeases(flow.context, flow.slots)).toBe(0);
    stuckFor(flow);
    expect(await recoverLostLeases(flow.context, flow.slots)).toBe(2);
    expect((await flow.task(sent)).status).toBe('SUBMIT_UNKNOWN');
    expect((await flow.task(unsent)).status).toBe('DISPATCHING');
    // The message is on its way: looking again at once must not lengthen the line it stands in.
    expect(await recoverLostLeases(flow.context, flow.slots)).toBe(0);
    await flow.drain(['reducer', 'reconciler']);
    expect((await flow.task(unsent)).status).toBe('SUBMITTED');
    expect(await flow.jobs(sent)).toEqual([]);
  });

  it('of one that no worker takes for long asks by the one message, and no oftener than it waits', async () => {
    const flow = await open();
    const id = await dispatch(flow);
    const { version } = await flow.task(id);
    const asked: number[] = [];
    for (let waits = 0; waits < 4; waits += 1) {
      stuckFor(flow);
      for (let looks = 0; looks < 3; looks += 1) {
        asked.push(await recoverLostLeases(flow.context, flow.slots));
        asked.push(await rescueStuck(flow.context));
      }
    }
    expect(asked.reduce((sum, each) => sum + each, 0)).toBe(4);
    expect((await flow.task(id)).version).toBe(version);
    const { rows } = await flow.database.pool.query(
      `SELECT count(*)::int AS count FROM outbox_events WHERE type = 'attempt.dispatch.requested' AND aggregate_id = $1`,
      [id],
    );
    expect(rows).toEqual([{ count: 1 }]);
    await flow.relay();
    await flow.deliver('provider');
    expect((await flow.task(id)).status).toBe('SUBMITTED');
  });

  it('is not taken from a worker whose answer comes at the same moment', async () => {
    const flow = await open();
    const ids = [await dispatch(flow), await dispatch(flow), await dispatch(flow)];
    flow.crashAt('submit.after_http_before_db');
    await expect(flow.deliver('provider')).rejects.toThrow(SimulatedCrash);
    flow.disarm();
    stuckFor(flow);
    await Promise.all([
      flow.deliverAtOnce('provider', 2),
      recoverLostLeases(flow.context, flow.slots),
      recoverLostLeases(flow.context, flow.slots),
    ]);
    for (const id of ids) {
      expect(await flow.attempts(id)).toHaveLength(1);
      expect(['SUBMITTED', 'SUBMIT_UNKNOWN']).toContain((await flow.task(id)).status);
    }
  });

  it('whose reconciler dies while judging has changed nothing', async () => {
    const flow = await open();
    const id = await dispatch(flow);
    flow.crashAt('submit.after_sending_before_http');
    await expect(flow.deliver('provider')).rejects.toThrow(SimulatedCrash);
    stuckFor(flow);
    flow.crashAt('reconcile.after_lease_judged_before_db');
    await expect(recoverLostLeases(flow.context, flow.slots)).rejects.toThrow(SimulatedCrash);
    flow.disarm();
    expect((await flow.attempt(id)).status).toBe('SENDING');
    expect(await recoverLostLeases(flow.context, flow.slots)).toBe(1);
  });
});

describe('what is over', () => {
  it('expires in the queue and is asked to stop at the provider, once', async () => {
    const flow = await open();
    const running = await flow.submit({ fault: 'hang' });
    const waiting = await flow.create();
    flow.clock.advance(flow.context.settings.taskDeadlineMs + 1);
    expect(await expireOverdue(flow.context, flow.slots)).toBe(2);
    expect(await expireOverdue(flow.context, flow.slots)).toBe(0);
    expect((await flow.task(waiting.id)).status).toBe('EXPIRED');
    expect(await flow.task(running.id)).toMatchObject({
      status: 'CANCEL_REQUESTED',
      cancelReason: 'DEADLINE',
    });
  });

  it('leaves fetching and media to their own budgets', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const { id } = await flow.submit();
    await flow.finishJob(id);
    flow.clock.advance(flow.context.settings.taskDeadlineMs + 1);
    expect(await expireOverdue(flow.context, flow.slots)).toBe(0);
    await flow.drain();
    expect((await flow.task(id)).status).toBe('SUCCEEDED');
  });

  it('ends an output that no person has helped within the window', async () => {
    const flow = await open({
      toolkit: (real) => ({
        probe: real.probe,
        derive: () => Promise.reject(new MediaToolError('broken', 'tool')),
      }),
    });
    const { id } = await flow.submit();
    await flow.finishJob(id);
    for (let tries = 0; tries < 6; tries += 1) {
      await flow.drain();
      flow.clock.advance(120_000);
    }
    expect((await flow.task(id)).needsOperator).toBe(true);
    expect(await endMediaWindows(flow.context)).toBe(0);
    flow.clock.advance(flow.context.settings.mediaReviewWindowMs);
    expect(await endMediaWindows(flow.context)).toBe(1);
    expect(await flow.task(id)).toMatchObject({
      status: 'FAILED_FINAL',
      lastErrorCode: 'MEDIA_PROCESSING_FAILED',
    });
    expect(await flow.ledger(id)).toMatchObject([
      { kind: 'RESERVE' },
      { kind: 'RELEASE', reason: 'CHARGED_PLATFORM_BEARS' },
    ]);
  });

  it('keeps the slots of attempts that may have a job, and no others', async () => {
    const flow = await open();
    const unknown = await flow.submit({ fault: ['answer_lost', 'hang'] });
    const running = await flow.submit({ fault: 'hang' });
    flow.clock.advance(flow.context.settings.slotTtlMs + 1);
    expect(await rebuildSlots(flow.context, flow.slots)).toBe(0);
    expect((await flow.slots.usage(['platform']))['platform']).toBe(2);
    expect((await flow.attempt(unknown.id)).status).toBe('UNKNOWN');
    expect((await flow.attempt(running.id)).status).toBe('ACKED');
  });

  it('gives no slot to an attempt that ended after the list was read', async () => {
    const flow = await open();
    const { id } = await flow.submit();
    await flow.finishJob(id);
    const attempt = await flow.attempt(id);
    expect(attempt.completedAt).not.toBeNull();
    const before = (await flow.slots.usage(['platform']))['platform'];
    const stale = [
      { holder: attempt.id, scopes: [{ scope: 'platform', limitMax: 9 }], token: null },
    ];
    const now = flow.clock.now();
    expect(await flow.slots.rebuild(stale, 60_000, now)).toMatchObject({ removed: 0, added: 0 });
    expect((await flow.slots.usage(['platform']))['platform'] ?? 0).toBe(before ?? 0);
  });
});
