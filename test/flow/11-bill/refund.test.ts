import { adjustCredits } from '../../../src/flow/bill/adjust-credits';
import { grantCredits } from '../../../src/flow/bill/grant-credits';
import { refundGeneration, type RefundInput } from '../../../src/flow/bill/refund-credits';
import { MICROS_MAX, MICROS_PER_CREDIT } from '../../../src/domain/kernel/money';
import { useFlow, type Flow } from '../../support/flow-harness';
import { onlyProxy } from '../../support/flow/expectations';
import { PRICE_MICROS } from '../../support/flow/seed-catalog';

const open = useFlow();

const refund = (flow: Flow, taskId: string, changes: Partial<RefundInput> = {}) =>
  refundGeneration(flow.context, {
    taskId,
    amountMicros: MICROS_PER_CREDIT,
    reference: null,
    reason: 'it was not what was asked for',
    actor: 'api_key:operator',
    ...changes,
  });

const deliver = async (flow: Flow): Promise<string> => {
  const { id } = await flow.submit();
  await flow.finishJob(id);
  await flow.drain();
  return id;
};

const audits = (flow: Flow) =>
  flow.look(
    `SELECT action, actor, reason, before, after FROM audit_log
     WHERE NOT coalesce(after ? 'refused', false) ORDER BY id`,
  );

describe('a refund', () => {
  it('gives back what was charged, once a reference, with a trace of who and why', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const id = await deliver(flow);
    const before = await flow.balance();
    expect(await refund(flow, id, { reference: 'ticket 7' })).toMatchObject({
      kind: 'REFUNDED',
      repeated: false,
    });
    expect(await refund(flow, id, { reference: 'ticket 7' })).toMatchObject({
      kind: 'REFUNDED',
      repeated: true,
    });
    expect(await refund(flow, id, { reference: 'ticket 7', amountMicros: 5n })).toMatchObject({
      code: 'REFERENCE_CONFLICT',
    });
    expect((await flow.balance()).availableMicros).toBe(before.availableMicros + MICROS_PER_CREDIT);
    expect(await audits(flow)).toMatchObject([
      {
        action: 'credits.refund',
        actor: 'api_key:operator',
        reason: 'it was not what was asked for',
        before: { chargedMicros: String(PRICE_MICROS), givenBackMicros: '0' },
        after: { givenBackMicros: '1000000', reference: 'ticket 7' },
      },
    ]);
  });

  it('without a reference is a new one each time, up to what was settled', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const id = await deliver(flow);
    await refund(flow, id);
    await refund(flow, id);
    expect(await refund(flow, id, { amountMicros: PRICE_MICROS })).toMatchObject({
      code: 'OVER_LIMIT',
      message: expect.stringContaining('At most 4 credits') as string,
    });
    expect(await refund(flow, id, { amountMicros: null })).toMatchObject({ kind: 'REFUNDED' });
    expect(await refund(flow, id, { amountMicros: null })).toMatchObject({ code: 'OVER_LIMIT' });
    expect(
      (await flow.ledger(id)).filter(({ kind }) => kind === 'REFUND').map(({ amount }) => amount),
    ).toEqual([MICROS_PER_CREDIT, MICROS_PER_CREDIT, PRICE_MICROS - 2n * MICROS_PER_CREDIT]);
  });

  it('of eight at once gives back the settled amount and no more (case 11)', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const id = await deliver(flow);
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        refund(flow, id, {
          amountMicros: PRICE_MICROS / 2n,
          reference: n % 2 === 0 ? null : `ticket ${n}`,
        }),
      ),
    );
    expect(results.filter(({ kind }) => kind === 'REFUNDED')).toHaveLength(2);
    expect(results.filter((each) => each.kind === 'REFUSED').map(({ code }) => code)).toEqual(
      Array<string>(6).fill('OVER_LIMIT'),
    );
  });

  it('is refused before the settlement, without a reason, of nothing, and of what does not exist', async () => {
    const flow = await open();
    const { id } = await flow.create();
    expect(await refund(flow, id)).toMatchObject({ code: 'NOT_SETTLED' });
    expect(await refund(flow, id, { reason: ' ' })).toMatchObject({ code: 'REASON_REQUIRED' });
    expect(await refund(flow, id, { amountMicros: 0n })).toMatchObject({ code: 'AMOUNT_INVALID' });
    expect(await refund(flow, id, { amountMicros: -1n })).toMatchObject({ code: 'AMOUNT_INVALID' });
    expect(await refund(flow, flow.tenantId)).toMatchObject({ code: 'GENERATION_NOT_FOUND' });
    expect(await audits(flow)).toEqual([]);
  });
});

describe('an adjustment by hand', () => {
  const adjust = (flow: Flow, deltaMicros: bigint, reference = 'letter 1') =>
    adjustCredits(flow.context, {
      subject: { kind: 'TENANT', tenantId: flow.tenantId },
      deltaMicros,
      reference,
      reason: 'agreed by letter',
      actor: 'api_key:operator',
    });

  it('moves what can be spent, once a reference, and is audited with before and after', async () => {
    const flow = await open({ tenant: { credits: 10n } });
    expect(await adjust(flow, -4n * MICROS_PER_CREDIT)).toMatchObject({
      kind: 'ADJUSTED',
      repeated: false,
      balance: { availableMicros: 6n * MICROS_PER_CREDIT },
    });
    expect(await adjust(flow, -4n * MICROS_PER_CREDIT)).toMatchObject({ repeated: true });
    expect(await adjust(flow, 4n * MICROS_PER_CREDIT)).toMatchObject({
      code: 'REFERENCE_CONFLICT',
    });
    expect(await audits(flow)).toMatchObject([
      {
        action: 'credits.adjust',
        before: { availableMicros: '10000000' },
        after: { availableMicros: '6000000', deltaMicros: '-4000000' },
      },
    ]);
  });

  it('is refused below zero, beyond what fits, of nothing, and for nobody', async () => {
    const flow = await open({ tenant: { credits: 10n } });
    await flow.create();
    const left = 10n * MICROS_PER_CREDIT - PRICE_MICROS;
    expect(await adjust(flow, -left - 1n)).toMatchObject({ code: 'INSUFFICIENT_CREDITS' });
    expect(await adjust(flow, MICROS_MAX - left)).toMatchObject({ code: 'BALANCE_TOO_LARGE' });
    expect(await adjust(flow, 0n)).toMatchObject({ code: 'AMOUNT_INVALID' });
    expect(
      await adjustCredits(flow.context, {
        subject: { kind: 'ATTEMPT', attemptId: flow.tenantId },
        ...{ deltaMicros: 1n, reference: 'x', reason: 'y', actor: 'z' },
      }),
    ).toMatchObject({ code: 'SUBJECT_NOT_FOUND' });
    expect(await audits(flow)).toEqual([]);
  });
});

describe('a grant', () => {
  it('that the account cannot hold is refused with its code', async () => {
    const flow = await open();
    const grant = (n: number) =>
      grantCredits(flow.context, {
        tenantId: flow.tenantId,
        amountMicros: 1_000_000_000n * MICROS_PER_CREDIT,
        reference: `payment ${n}`,
        ...{ reason: 'paid', actor: 'api_key:operator' },
      });
    await adjustCredits(flow.context, {
      subject: { kind: 'TENANT', tenantId: flow.tenantId },
      deltaMicros: MICROS_MAX - 2_000_000_000n * MICROS_PER_CREDIT,
      ...{ reference: 'near the end', reason: 'test', actor: 'test' },
    });
    expect(await grant(1)).toMatchObject({ kind: 'GRANTED' });
    expect(await grant(2)).toMatchObject({ code: 'BALANCE_TOO_LARGE' });
  });
});
