import { expireOverdue } from '../../../src/flow/reconcile/recover-tasks';
import { useFlow, type CreateChanges, type Flow } from '../../support/flow-harness';
import { expectRepeatStopped, onlyProxy } from '../../support/flow/expectations';
import { SimulatedCrash } from '../../support/flow/message-driver';
import { PRICE_MICROS } from '../../support/flow/seed-catalog';

const open = useFlow();

const costs = (flow: Flow) =>
  flow.look(
    'SELECT amount::float8 AS amount, currency, source FROM provider_costs ORDER BY created_at',
  );

/** 2 s at 480p for 0.02 USD each. */
const COST = { amount: 0.04, currency: 'USD', source: 'ATTEMPT' };

describe('the cost of an attempt', () => {
  it('is booked beside what the tenant paid', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const { id } = await flow.submit();
    await flow.finishJob(id);
    await flow.drain();
    expect(await costs(flow)).toEqual([COST]);
    expect(await flow.ledger(id)).toMatchObject([
      { kind: 'RESERVE' },
      { kind: 'SETTLE', amount: PRICE_MICROS, reason: 'DELIVERED' },
    ]);
    expect((await flow.task(id)).settledMicros).toBe(PRICE_MICROS);
  });

  test('the inbox of billing stops a repeat', async () => {
    const flow = await open();
    const { id } = await flow.submit();
    await flow.finishJob(id);
    await flow.relay();
    await expectRepeatStopped(flow, 'billing');
    expect(await costs(flow)).toEqual([COST]);
  });

  it('is booked once though the worker dies before its commit', async () => {
    const flow = await open();
    const { id } = await flow.submit();
    await flow.finishJob(id);
    await flow.relay();
    flow.crashAt('bill.before_commit');
    await expect(flow.deliver('billing')).rejects.toThrow(SimulatedCrash);
    flow.disarm();
    expect(await costs(flow)).toEqual([]);
    flow.clock.advance(16_000);
    await flow.deliver('billing');
    expect(await costs(flow)).toEqual([COST]);
  });

  it('is booked once though the worker dies before it can acknowledge', async () => {
    const flow = await open();
    const { id } = await flow.submit();
    await flow.finishJob(id);
    await flow.relay();
    flow.crashAt('bill.after_commit_before_ack');
    await expect(flow.deliver('billing')).rejects.toThrow(SimulatedCrash);
    flow.disarm();
    flow.clock.advance(16_000);
    expect((await flow.deliver('billing')).map(({ consumed }) => consumed.kind)).toEqual([
      'DUPLICATE',
    ]);
    expect(await costs(flow)).toEqual([COST]);
  });

  it('that is booked with another amount is told, and the books stay as they are', async () => {
    const flow = await open();
    const { id } = await flow.submit();
    const { id: attemptId, providerId } = await flow.attempt(id);
    await flow.finishJob(id);
    await flow.context.uow.stores.money.recordProviderCost({
      ...{ id: flow.context.ids.next(flow.clock.now()), providerId, attemptId: null, jobId: null },
      ...{ source: 'ATTEMPT', amount: '9', currency: 'USD', rateMicros: 1n },
      ...{ businessKey: `cost:${attemptId}`, now: flow.clock.now() },
    });
    await flow.relay();
    await flow.deliver('billing');
    expect(await flow.findings()).toEqual(['COST_CONFLICT']);
    expect(await costs(flow)).toMatchObject([{ amount: 9 }]);
  });

  it('of a refusal that was charged is booked, though there never was a job', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'reject_422_charged' });
    await flow.drain();
    expect((await flow.task(id)).status).toBe('FAILED_FINAL');
    expect(await costs(flow)).toEqual([COST]);
    expect(await flow.ledger(id)).toMatchObject([
      { kind: 'RESERVE' },
      { kind: 'RELEASE', reason: 'CHARGED_PLATFORM_BEARS' },
    ]);
  });

  it('above the price is the platform’s: the tenant pays the quote', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const { id } = await flow.submit({ fault: 'overcharge' });
    await flow.finishJob(id);
    await flow.drain();
    expect(await costs(flow)).toMatchObject([{ amount: 0.12 }]);
    expect(await flow.ledger(id)).toMatchObject([
      { kind: 'RESERVE' },
      { kind: 'SETTLE', amount: PRICE_MICROS },
    ]);
  });

  it.each([
    [
      'PLATFORM',
      [
        { kind: 'RESERVE' },
        { kind: 'RELEASE', amount: PRICE_MICROS, reason: 'CHARGED_PLATFORM_BEARS' },
      ],
    ],
    [
      'TENANT',
      [
        { kind: 'RESERVE' },
        { kind: 'SETTLE', amount: 4_000_000n, reason: 'CHARGED_TENANT_BEARS' },
        { kind: 'RELEASE', amount: 2_000_000n },
      ],
    ],
  ] as const)('of a failure goes by the contract: %s', async (chargedFailureBearer, entries) => {
    const flow = await open({ tenant: { chargedFailureBearer } });
    const { id } = await flow.submit({ fault: 'failed_charged' });
    expect((await flow.finishJob(id)).status).toBe('FAILED_FINAL');
    await flow.drain();
    const ledger = await flow.ledger(id);
    expect(ledger).toHaveLength(entries.length);
    for (const entry of entries) expect(ledger).toContainEqual(expect.objectContaining(entry));
    expect(await costs(flow)).toEqual([COST]);
  });
});

describe('a hold', () => {
  const ends: [string, CreateChanges, (flow: Flow, id: string) => Promise<unknown>, string][] = [
    ['a cancel before the submit', {}, (flow, id) => flow.cancel(id), 'CANCELED'],
    ['a refusal', { fault: 'reject_400' }, (flow) => flow.drain(), 'FAILED_FINAL'],
    [
      'a failed job',
      { fault: 'failed', faultParams: { error_code: 'content_policy' } },
      async (flow, id) => {
        await flow.drain(['reducer']);
        await flow.finishJob(id);
      },
      'FAILED_FINAL',
    ],
    [
      'a filtered job',
      { fault: 'filtered' },
      async (flow, id) => {
        await flow.drain(['reducer']);
        await flow.finishJob(id);
      },
      'FAILED_FINAL',
    ],
    [
      'a confirmed cancel',
      { fault: 'hang' },
      async (flow, id) => {
        await flow.drain(['reducer']);
        await flow.cancel(id);
        await flow.drain();
        await flow.finishJob(id);
      },
      'CANCELED',
    ],
    [
      'a deadline in the queue',
      {},
      async (flow) => {
        flow.clock.advance(flow.context.settings.taskDeadlineMs + 1);
        await expireOverdue(flow.context, flow.slots);
      },
      'EXPIRED',
    ],
    [
      'a recovery that never came',
      { fault: 'hang' },
      async (flow) => {
        await flow.drain(['reducer']);
        flow.clock.advance(flow.context.settings.taskDeadlineMs + 1);
        await expireOverdue(flow.context, flow.slots);
        flow.clock.advance(flow.context.settings.recoveryWindowMs + 1);
        await expireOverdue(flow.context, flow.slots);
      },
      'EXPIRED',
    ],
  ];

  it.each(ends)('is zero after %s (case 7)', async (_, changes, end, status) => {
    const flow = await open();
    const { id } = await flow.create(changes);
    await end(flow, id);
    expect((await flow.task(id)).status).toBe(status);
    expect((await flow.balance()).heldMicros).toBe(0n);
    expect(await flow.look('SELECT status FROM holds WHERE task_id = $1', [id])).toEqual([
      { status: 'CLOSED' },
    ]);
  });

  it('closed by a cancel and a deadline at once is closed once; another hold of the tenant is untouched (case 9)', async () => {
    const flow = await open();
    const { id } = await flow.create();
    const other = await flow.create();
    await flow.look(`UPDATE generation_tasks SET deadline_at = $1 WHERE id = $2`, [
      flow.clock.now(),
      id,
    ]);
    await Promise.all([
      flow.cancel(id),
      expireOverdue(flow.context, flow.slots),
      flow.cancel(id),
      flow.runPass(),
      expireOverdue(flow.context, flow.slots),
    ]);
    expect(['CANCELED', 'EXPIRED']).toContain((await flow.task(id)).status);
    expect(await flow.ledger(id)).toMatchObject([
      { kind: 'RESERVE' },
      { kind: 'RELEASE', amount: PRICE_MICROS },
    ]);
    expect((await flow.balance()).heldMicros).toBe(PRICE_MICROS);
    expect(await flow.ledger(other.id)).toMatchObject([{ kind: 'RESERVE' }]);
  });
});
