import type { PoolClient } from 'pg';

import { rescueSettlements } from '../../../src/flow/bill/settle-later';
import { refundGeneration } from '../../../src/flow/bill/refund-credits';
import { LedgerUnavailableError } from '../../../src/ports/stores/money-store';
import { useFlow, type Flow } from '../../support/flow-harness';
import { expectRepeatStopped, onlyProxy } from '../../support/flow/expectations';
import { SimulatedCrash } from '../../support/flow/message-driver';
import { PRICE_MICROS } from '../../support/flow/seed-catalog';

const open = useFlow();

/** The ledger is out of reach for as long as the answered function is not called. */
const blockLedger = async (flow: Flow, how: 'ACCOUNT' | 'TABLE'): Promise<() => Promise<void>> => {
  const client: PoolClient = await flow.database.pool.connect();
  await client.query('BEGIN');
  if (how === 'TABLE') await client.query('LOCK TABLE credit_ledger IN ACCESS EXCLUSIVE MODE');
  else
    await client.query('SELECT 1 FROM accounts WHERE tenant_id = $1 FOR UPDATE', [flow.tenantId]);
  return async () => {
    await client.query('ROLLBACK');
    client.release();
  };
};

const settlements = (flow: Flow) =>
  flow.look(
    `SELECT payload->>'settleMicros' AS settle, payload->>'reason' AS reason FROM outbox_events
     WHERE type = 'billing.settlement.requested' ORDER BY id`,
  );

const hold = async (flow: Flow, id: string) =>
  (await flow.look('SELECT status FROM holds WHERE task_id = $1', [id]))[0]?.['status'];

describe.each(['ACCOUNT', 'TABLE'] as const)('while the ledger is out of reach (%s)', (how) => {
  it('what runs finishes; its settlement waits in the outbox and is booked once', async () => {
    const flow = await open({ toolkit: onlyProxy, ledgerWaitMs: 150 });
    const { id } = await flow.submit();
    await flow.finishJob(id);
    const release = await blockLedger(flow, how);
    try {
      await flow.drain(['billing']);
      expect(await flow.task(id)).toMatchObject({ status: 'SUCCEEDED', settledMicros: null });
      expect(await hold(flow, id)).toBe('OPEN');
      expect(await settlements(flow)).toEqual([
        { settle: String(PRICE_MICROS), reason: 'DELIVERED' },
      ]);
      // Not yet: it is handed back, and nothing of it is committed.
      const handled = await flow.deliver('billing');
      expect(handled.map(({ consumed }) => consumed.kind)).toContain('RETRY');
      expect(await hold(flow, id)).toBe('OPEN');
    } finally {
      await release();
    }
    flow.clock.advance(60_000);
    await flow.drain();
    expect(await hold(flow, id)).toBe('CLOSED');
    expect((await flow.task(id)).settledMicros).toBe(PRICE_MICROS);
    expect(await flow.ledger(id)).toMatchObject([
      { kind: 'RESERVE' },
      { kind: 'SETTLE', amount: PRICE_MICROS, reason: 'DELIVERED' },
    ]);
  });

  it('a new generation is refused within the wait, and writes nothing', async () => {
    const flow = await open({ ledgerWaitMs: 150 });
    const release = await blockLedger(flow, how);
    try {
      await expect(flow.tryCreate({ key: 'again' })).rejects.toThrow(LedgerUnavailableError);
    } finally {
      await release();
    }
    expect(await flow.look('SELECT 1 FROM generation_tasks')).toEqual([]);
    expect(await flow.tryCreate({ key: 'again' })).toMatchObject({ kind: 'CREATED' });
  });
});

describe('a settlement that waits', () => {
  const endWithoutLedger = async (flow: Flow): Promise<string> => {
    const { id } = await flow.create();
    const release = await blockLedger(flow, 'ACCOUNT');
    try {
      expect(await flow.cancel(id)).toMatchObject({ kind: 'ACCEPTED', stopped: true });
    } finally {
      await release();
    }
    await flow.relay();
    return id;
  };

  it('is applied once, however often its message comes', async () => {
    const flow = await open({ ledgerWaitMs: 100 });
    const id = await endWithoutLedger(flow);
    await expectRepeatStopped(flow, 'billing');
    expect(await flow.ledger(id)).toMatchObject([
      { kind: 'RESERVE' },
      { kind: 'RELEASE', amount: PRICE_MICROS, reason: 'NEVER_SUBMITTED' },
    ]);
  });

  it('is applied once by several workers at once', async () => {
    const flow = await open({ ledgerWaitMs: 2_000 });
    const id = await endWithoutLedger(flow);
    const consumed = await flow.deliverAtOnce('billing', 4);
    expect(consumed.filter(({ kind }) => kind === 'APPLIED')).toHaveLength(1);
    expect(await flow.ledger(id)).toHaveLength(2);
  });

  it('survives a worker that dies before its commit, and one that dies after it', async () => {
    const flow = await open({ ledgerWaitMs: 100 });
    const id = await endWithoutLedger(flow);
    for (const point of ['settle.before_commit', 'settle.after_commit_before_ack'] as const) {
      flow.crashAt(point);
      await expect(flow.deliver('billing')).rejects.toThrow(SimulatedCrash);
      flow.disarm();
      flow.clock.advance(16_000);
    }
    await flow.deliver('billing');
    expect(await hold(flow, id)).toBe('CLOSED');
    expect(await flow.ledger(id)).toHaveLength(2);
  });

  it('whose end dies before its commit leaves nothing', async () => {
    const flow = await open({ ledgerWaitMs: 100 });
    const { id } = await flow.create();
    const release = await blockLedger(flow, 'ACCOUNT');
    flow.crashAt('settle.deferred_before_commit');
    try {
      await expect(flow.cancel(id)).rejects.toThrow(SimulatedCrash);
    } finally {
      flow.disarm();
      await release();
    }
    expect((await flow.task(id)).status).toBe('QUEUED');
    expect(await settlements(flow)).toEqual([]);
  });

  it('and is lost is asked for again by the reconciler, which tells of it', async () => {
    const flow = await open({ ledgerWaitMs: 100 });
    const id = await endWithoutLedger(flow);
    expect(await flow.lose('billing')).toHaveLength(1);
    expect(await rescueSettlements(flow.context)).toBe(0);
    flow.clock.advance(flow.context.settings.stuckAfterMs + 1);
    expect(await rescueSettlements(flow.context)).toBe(1);
    // Asked for, and not asked for again at once.
    expect(await rescueSettlements(flow.context)).toBe(0);
    expect(await flow.findings()).toEqual(['UNBALANCED_HOLD']);
    await flow.drain();
    expect(await hold(flow, id)).toBe('CLOSED');
    expect(await flow.ledger(id)).toHaveLength(2);
  });

  it('cannot be refunded before it is booked', async () => {
    const flow = await open({ ledgerWaitMs: 100 });
    const id = await endWithoutLedger(flow);
    expect(
      await refundGeneration(flow.context, {
        ...{ taskId: id, amountMicros: 1n, reference: null, reason: 'early', actor: 'test' },
      }),
    ).toMatchObject({ code: 'NOT_SETTLED' });
    await flow.drain();
  });
});
