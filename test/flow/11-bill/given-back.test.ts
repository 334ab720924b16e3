import { adjustCredits } from '../../../src/flow/bill/adjust-credits';
import { importInvoice } from '../../../src/flow/bill/import-invoice';
import { refundGeneration, refundInTransaction } from '../../../src/flow/bill/refund-credits';
import { setSpendLimit } from '../../../src/flow/bill/set-spend-limit';
import { MICROS_PER_CREDIT } from '../../../src/domain/kernel/money';
import { eventually } from '../../support/eventually';
import { useFlow, type Flow } from '../../support/flow-harness';

const open = useFlow();

const WHO = { reason: 'agreed by letter', actor: 'api_key:operator' } as const;
const credits = (count: number): bigint => BigInt(count) * MICROS_PER_CREDIT;

/** Fails for 4 credits that the tenant bears by its contract. */
const failCharged = async (flow: Flow): Promise<string> => {
  const { id } = await flow.submit({ fault: 'failed_charged' });
  await flow.finishJob(id);
  await flow.drain();
  return id;
};

/** The provider asks for `amount` dollars; 0.01 is a credit. */
const invoice = async (flow: Flow, taskId: string, amount: string, item = 'chg_1') => {
  const now = flow.clock.now();
  const { jobId } = await flow.attempt(taskId);
  const line = { id: item, job_id: jobId, amount, currency: 'USD', at: now.toISOString() };
  return importInvoice(flow.context, {
    providerId: 'sandbox',
    isComplete: false,
    format: 'JSON_LINES',
    period: { start: new Date(now.getTime() - 60_000), end: new Date(now.getTime() + 60_000) },
    chunks: [Buffer.from(`${JSON.stringify(line)}\n`)],
    ...WHO,
  });
};

const refund = (flow: Flow, taskId: string, amountMicros: bigint) =>
  refundGeneration(flow.context, { taskId, amountMicros, reference: null, ...WHO });

const adjust = async (flow: Flow, taskId: string, deltaMicros: bigint, reference: string) =>
  adjustCredits(flow.context, {
    subject: { kind: 'ATTEMPT', attemptId: (await flow.attempt(taskId)).id },
    ...{ deltaMicros, reference, ...WHO },
  });

const adjusted = async (flow: Flow): Promise<unknown> =>
  (await flow.look('SELECT adjusted_micros::text AS adjusted FROM provider_invoice_items'))[0]?.[
    'adjusted'
  ];

describe('what is given back of a generation', () => {
  const openBearing = () => open({ tenant: { chargedFailureBearer: 'TENANT', credits: 100n } });

  it('by an invoice is not given back by a refund again', async () => {
    const flow = await openBearing();
    const id = await failCharged(flow);
    await invoice(flow, id, '0.03');
    expect(await adjusted(flow)).toBe('1000000');
    expect(await refund(flow, id, credits(4))).toMatchObject({
      code: 'OVER_LIMIT',
      message: expect.stringContaining('At most 3 credits') as string,
    });
    expect(await refund(flow, id, credits(3))).toMatchObject({ kind: 'REFUNDED' });
    expect(await flow.balance()).toMatchObject({ availableMicros: credits(100) });
  });

  it('by a refund is not given back by an invoice again', async () => {
    const flow = await openBearing();
    const id = await failCharged(flow);
    expect(await refund(flow, id, credits(4))).toMatchObject({ kind: 'REFUNDED' });
    await invoice(flow, id, '0.03');
    expect(await adjusted(flow)).toBe('0');
    expect(await flow.balance()).toMatchObject({ availableMicros: credits(100) });
  });

  it('by a refund that commits while an invoice waits for it is seen', async () => {
    const flow = await openBearing();
    const id = await failCharged(flow);
    let importing: Promise<unknown> = Promise.resolve();
    await flow.context.uow.transact(async (tx) => {
      const all = { taskId: id, amountMicros: credits(4), reference: null, ...WHO };
      await refundInTransaction(flow.context, tx, all);
      importing = invoice(flow, id, '0.03');
      await eventually('the import waits for the hold', async () => {
        const waiting = await flow.look(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return waiting.length > 0 ? true : null;
      });
    });
    await importing;
    expect(await adjusted(flow)).toBe('0');
    expect(await flow.balance()).toMatchObject({ availableMicros: credits(100) });
  });

  it('by refunds and corrections at once is what was charged, and no more', async () => {
    const flow = await openBearing();
    const id = await failCharged(flow);
    await Promise.all([
      ...Array.from({ length: 4 }, () => refund(flow, id, credits(1))),
      ...Array.from({ length: 4 }, (_, n) => adjust(flow, id, credits(1), `letter ${n}`)),
      invoice(flow, id, '0.02'),
    ]);
    expect(await flow.balance()).toMatchObject({ availableMicros: credits(100) });
  });

  it('by hand on an attempt is bounded too, and a charge by hand can be refunded', async () => {
    const flow = await openBearing();
    const id = await failCharged(flow);
    expect(await adjust(flow, id, credits(5), 'too much')).toMatchObject({ code: 'OVER_LIMIT' });
    expect(await adjust(flow, id, credits(4), 'all')).toMatchObject({ kind: 'ADJUSTED' });
    expect(await adjust(flow, id, credits(4), 'all')).toMatchObject({ repeated: true });
    expect(await adjust(flow, id, 1n, 'more')).toMatchObject({ code: 'OVER_LIMIT' });
    expect(await adjust(flow, id, -credits(2), 'charge')).toMatchObject({ kind: 'ADJUSTED' });
    expect(await refund(flow, id, credits(3))).toMatchObject({ code: 'OVER_LIMIT' });
    expect(await refund(flow, id, credits(2))).toMatchObject({ kind: 'REFUNDED' });
  });

  it('counts under keys that an item’s id cannot take from a reference', async () => {
    const flow = await openBearing();
    const id = await failCharged(flow);
    await adjust(flow, id, credits(1), 'y1');
    expect(await invoice(flow, id, '0.03', 'ref:y1')).toMatchObject({ kind: 'IMPORTED' });
    expect(await flow.balance()).toMatchObject({ availableMicros: credits(98) });
  });

  it('and what a correction charged counts on the budget', async () => {
    const flow = await openBearing();
    const id = await failCharged(flow);
    const spent = async () =>
      (await flow.look('SELECT spent_micros::text AS spent FROM spend_limits'))[0]?.['spent'];
    const limit = () =>
      setSpendLimit(flow.context, {
        tenantId: flow.tenantId,
        apiKeyId: null,
        limit: { period: 'MONTH', limitMicros: credits(50) },
        ...WHO,
      });
    await limit();
    await adjust(flow, id, -credits(2), 'charge');
    expect(await spent()).toBe('6000000');
    await adjust(flow, id, credits(1), 'back');
    expect(await spent()).toBe('5000000');
    // Counted anew, it is the same.
    await limit();
    expect(await spent()).toBe('5000000');
  });
});
