import { adjustCredits } from '../../../src/flow/bill/adjust-credits';
import { grantCredits } from '../../../src/flow/bill/grant-credits';
import { importInvoice } from '../../../src/flow/bill/import-invoice';
import { refundGeneration } from '../../../src/flow/bill/refund-credits';
import { setSpendLimit } from '../../../src/flow/bill/set-spend-limit';
import { decideAssetReview } from '../../../src/flow/operate/decide-review';
import type { Flow } from '../../support/flow-harness';

const PERSON = { actor: 'operator:1', reason: 'agreed' } as const;
const DAY_MS = 86_400_000;

const took = (kind: string, ...expected: string[]): void => {
  if (!expected.includes(kind)) throw new Error(`It answered ${kind}`);
};

/** The harness grants by the store alone; a person's grant has its row in the audit log. */
export const auditStart = async (flow: Flow, tenantId: string): Promise<void> => {
  const [row] = await flow.look(
    `SELECT amount_micros::text AS amount FROM credit_ledger WHERE tenant_id = $1 AND kind = 'GRANT'`,
    [tenantId],
  );
  const now = flow.clock.now();
  await flow.context.uow.stores.audit.record({
    ...{ id: flow.context.ids.next(now), tenantId, actor: 'test', action: 'credits.grant' },
    ...{ subjectKind: 'TENANT', subjectId: tenantId, reason: 'START', before: null, now },
    after: { amountMicros: String(row?.['amount']), reference: 'start' },
  });
};

export const limitTenant = async (flow: Flow): Promise<void> => {
  const limit = { period: 'MONTH', limitMicros: 500_000_000n } as const;
  took(
    (
      await setSpendLimit(flow.context, {
        ...{ tenantId: flow.tenantId, apiKeyId: null, limit },
        ...PERSON,
      })
    ).kind,
    'SET',
  );
};

/** Each way in which credits move beside a settlement: by a person with and without a reference, and by an invoice. */
export const moveMoney = async (flow: Flow, taskId: string, canceledId: string): Promise<void> => {
  const { context, tenantId } = flow;
  const { id: attemptId, jobId } = await flow.attempt(taskId);
  const refunds = [
    { amountMicros: 1_000_000n, reference: null },
    { amountMicros: 1_000_000n, reference: null },
    { amountMicros: 1_000_000n, reference: 'case-7' },
  ];
  for (const each of refunds) {
    took((await refundGeneration(context, { taskId, ...each, ...PERSON })).kind, 'REFUNDED');
  }
  took(
    (
      await grantCredits(context, {
        ...{ tenantId, amountMicros: 5_000_000n, reference: 'gift', ...PERSON },
      })
    ).kind,
    'GRANTED',
  );
  for (const subject of [
    { kind: 'TENANT', tenantId },
    { kind: 'ATTEMPT', attemptId },
  ] as const) {
    const deltaMicros = subject.kind === 'TENANT' ? 2_000n : -3_000n;
    const adjusted = await adjustCredits(context, {
      ...{ subject, deltaMicros, reference: 'fix', ...PERSON },
    });
    took(adjusted.kind, 'ADJUSTED');
  }
  // The contract that lets an invoice charge a tenant; the others are the platform's.
  await flow.look(`UPDATE tenants SET charged_failure_bearer = 'TENANT'`);
  const now = flow.clock.now();
  const lines = [
    { id: 'line-0', job_id: (await flow.attempt(canceledId)).jobId, amount: '0.0123' },
    { id: 'line-1', job_id: jobId, amount: '0.0500' },
    { id: 'line-2', job_id: 'vid_of_nobody', amount: '0.0100' },
  ].map((line) =>
    JSON.stringify({ reference: null, currency: 'USD', at: now.toISOString(), ...line }),
  );
  const imported = await importInvoice(context, {
    ...{ providerId: 'sandbox', format: 'JSON_LINES', chunks: [Buffer.from(lines.join('\n'))] },
    isComplete: false,
    period: { start: new Date(now.getTime() - DAY_MS), end: new Date(now.getTime() + DAY_MS) },
    ...PERSON,
  });
  took(imported.kind, 'IMPORTED');
  await flow.look(`UPDATE tenants SET charged_failure_bearer = 'PLATFORM'`);
  const booked = await flow.look(
    `SELECT 1 FROM provider_invoice_items WHERE adjustment = 'BOOKED'`,
  );
  if (booked.length !== 1) throw new Error('The invoice corrected nobody');
};

export const rejectOutput = async (flow: Flow, taskId: string): Promise<void> => {
  const { outputAssetId } = await flow.task(taskId);
  const decided = await decideAssetReview(flow.context, outputAssetId ?? '', {
    ...{ verdict: 'REJECT', ...PERSON },
  });
  took(decided.kind, 'DONE');
};
