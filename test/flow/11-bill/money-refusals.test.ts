import { adjustCredits } from '../../../src/flow/bill/adjust-credits';
import { grantCredits } from '../../../src/flow/bill/grant-credits';
import { importInvoice } from '../../../src/flow/bill/import-invoice';
import { refundGeneration } from '../../../src/flow/bill/refund-credits';
import { setSpendLimit } from '../../../src/flow/bill/set-spend-limit';
import { useFlow, type Flow } from '../../support/flow-harness';
import { auditOf, expectRefused, NOBODY, ORDER } from '../../support/flow/operator';

const open = useFlow();

interface Changes {
  readonly id?: string;
  readonly amountMicros?: bigint;
  readonly reason?: string;
}

const INVISIBLE = ['', '  ', '\u200b', ' \u2060\ufeff\t', '\u3164\u2800'];

const grant = (flow: Flow, { id = flow.tenantId, amountMicros = 1n, ...order }: Changes = {}) =>
  grantCredits(flow.context, { ...ORDER, ...order, tenantId: id, amountMicros, reference: 'r' });
const adjust = (flow: Flow, { id = flow.tenantId, amountMicros = 1n, ...order }: Changes = {}) =>
  adjustCredits(flow.context, {
    ...{ ...ORDER, ...order, reference: 'r', deltaMicros: amountMicros },
    subject: { kind: 'TENANT', tenantId: id },
  });
const refund = (flow: Flow, { id = NOBODY, amountMicros = 1n, ...order }: Changes = {}) =>
  refundGeneration(flow.context, {
    ...{ ...ORDER, ...order, taskId: id, amountMicros, reference: null },
  });
const limit = (
  flow: Flow,
  { id = flow.tenantId, reason = ORDER.reason }: Changes = {},
  apiKeyId: string | null = null,
  period: 'MONTH' | 'TOTAL' = 'MONTH',
) =>
  setSpendLimit(flow.context, {
    ...{ ...ORDER, reason, tenantId: id, apiKeyId, limit: { period, limitMicros: 1n } },
  });
const invoice = (
  flow: Flow,
  { id = 'sandbox', reason = ORDER.reason }: Changes = {},
  text = 'no json\n',
  sizeBytesMax = 1_000,
) =>
  importInvoice(flow.context, {
    ...{
      ...ORDER,
      reason,
      providerId: id,
      isComplete: false,
      format: 'JSON_LINES' as const,
      sizeBytesMax,
    },
    period: { start: new Date(0), end: new Date() },
    chunks: [Buffer.from(text)],
  });

describe('a refused action with money', () => {
  it('is recorded with its code and changes nothing', async () => {
    const flow = await open();
    const { id } = await flow.create();
    await limit(flow);
    const refused: readonly (readonly [code: string, () => Promise<unknown>])[] = [
      ['AMOUNT_INVALID', () => grant(flow, { amountMicros: 0n })],
      ['AMOUNT_INVALID', () => grant(flow, { amountMicros: 1_000_000_000_000_001n })],
      ['AMOUNT_INVALID', () => adjust(flow, { amountMicros: 0n })],
      ['INSUFFICIENT_CREDITS', () => adjust(flow, { amountMicros: -(10n ** 15n) })],
      ['AMOUNT_INVALID', () => refund(flow, { id, amountMicros: 0n })],
      ['NOT_SETTLED', () => refund(flow, { id })],
      ['PERIOD_INVALID', () => limit(flow, {}, null, 'TOTAL')],
      ['API_KEY_NOT_FOUND', () => limit(flow, {}, NOBODY)],
      ['INVOICE_BROKEN', () => invoice(flow)],
      ['INVOICE_EMPTY', () => invoice(flow, {}, '\n')],
      ['INVOICE_TOO_LARGE', () => invoice(flow, {}, 'no json\n', 3)],
    ];
    for (const [code, attempt] of refused) await expectRefused(flow, code, attempt);
    for (const reason of INVISIBLE) {
      for (const act of [grant, adjust, limit, invoice]) {
        await expectRefused(flow, 'REASON_REQUIRED', () => act(flow, { reason }));
      }
      await expectRefused(flow, 'REASON_REQUIRED', () => refund(flow, { id, reason }));
    }
    expect((await auditOf(flow)).map(({ subject }) => subject)).toEqual(
      expect.arrayContaining(['TENANT', 'GENERATION', 'API_KEY', 'PROVIDER']),
    );
  });

  it('on what does not exist says so first, and leaves no row', async () => {
    const flow = await open();
    const none = { id: NOBODY, reason: ' ', amountMicros: 0n };
    expect(await grant(flow, none)).toMatchObject({ code: 'TENANT_NOT_FOUND' });
    expect(await adjust(flow, none)).toMatchObject({ code: 'SUBJECT_NOT_FOUND' });
    expect(await refund(flow, none)).toMatchObject({ code: 'GENERATION_NOT_FOUND' });
    expect(await limit(flow, none)).toMatchObject({ code: 'TENANT_NOT_FOUND' });
    expect(await invoice(flow, none)).toMatchObject({ code: 'PROVIDER_NOT_FOUND' });
    expect(await auditOf(flow)).toEqual([]);
  });

  it('that was done before is no second row', async () => {
    const flow = await open();
    expect(await grant(flow)).toMatchObject({ repeated: false });
    expect(await grant(flow)).toMatchObject({ repeated: true });
    expect(await auditOf(flow)).toMatchObject([
      { action: 'credits.grant', refused: null, after: { amountMicros: '1', reference: 'r' } },
    ]);
  });
});
