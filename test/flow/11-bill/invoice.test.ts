import { importInvoice, type InvoiceImport } from '../../../src/flow/bill/import-invoice';
import { expireOverdue } from '../../../src/flow/reconcile/recover-tasks';
import type { InvoiceFormat } from '../../../src/domain/billing/invoice';
import { MICROS_PER_CREDIT } from '../../../src/domain/kernel/money';
import { useFlow, type Flow } from '../../support/flow-harness';
import { onlyProxy } from '../../support/flow/expectations';
import { SimulatedCrash } from '../../support/flow/message-driver';

const open = useFlow();

const DAY_MS = 86_400_000;

const importText = (
  flow: Flow,
  text: string,
  format: InvoiceFormat = 'JSON_LINES',
  changes: {
    providerId?: string;
    reason?: string;
    start?: Date;
    end?: Date;
    isComplete?: boolean;
  } = {},
): Promise<InvoiceImport> =>
  importInvoice(flow.context, {
    providerId: changes.providerId ?? 'sandbox',
    format,
    period: {
      start: changes.start ?? new Date(flow.clock.now().getTime() - DAY_MS),
      end: changes.end ?? new Date(flow.clock.now().getTime() + DAY_MS),
    },
    isComplete: changes.isComplete ?? false,
    chunks: [Buffer.from(text)],
    reason: changes.reason ?? 'monthly invoice',
    actor: 'api_key:operator',
  });

interface LineChanges {
  readonly id?: string;
  readonly job_id?: string | null;
  readonly reference?: string | null;
  readonly amount?: unknown;
  readonly currency?: string;
  readonly at?: string;
}

let lineCount = 0;
const line = (flow: Flow, changes: LineChanges): string => {
  lineCount += 1;
  return `${JSON.stringify({
    id: `chg_${lineCount}`,
    job_id: null,
    reference: null,
    amount: '0.0400',
    currency: 'USD',
    at: flow.clock.now().toISOString(),
    ...changes,
  })}\n`;
};

const items = (flow: Flow) =>
  flow.look(
    `SELECT line_no, class, cause, attempt_id, adjustment, adjusted_micros::text AS adjusted
     FROM provider_invoice_items ORDER BY id`,
  );

const words = async (flow: Flow) =>
  (await items(flow)).map((item) => `${String(item['class'])} ${String(item['cause'])}`);

const openFindings = async (flow: Flow) =>
  (await flow.look('SELECT kind FROM findings WHERE resolved_at IS NULL')).map(({ kind }) => kind);

const invoiceCosts = (flow: Flow) =>
  flow.look(
    `SELECT amount::float8 AS amount, attempt_id FROM provider_costs WHERE source = 'INVOICE' ORDER BY id`,
  );

const deliver = async (flow: Flow): Promise<string> => {
  const { id } = await flow.submit();
  await flow.finishJob(id);
  await flow.drain();
  return id;
};

/** Ends EXPIRED while the provider says nothing: nobody knows what it charges. */
const endUnknown = async (flow: Flow): Promise<string> => {
  const { id } = await flow.submit({ fault: 'hang' });
  const { taskDeadlineMs, recoveryWindowMs } = flow.context.settings;
  for (const wait of [taskDeadlineMs, recoveryWindowMs]) {
    flow.clock.advance(wait + 1);
    await expireOverdue(flow.context, flow.slots);
  }
  expect((await flow.task(id)).status).toBe('EXPIRED');
  return id;
};

const jobOf = async (flow: Flow, id: string): Promise<string> => {
  const { jobId } = await flow.attempt(id);
  if (jobId === null) throw new Error('the attempt has no job');
  return jobId;
};

describe('the invoice of the provider itself', () => {
  it.each<[InvoiceFormat, string]>([
    ['CSV', 'text/csv'],
    ['JSON_LINES', 'application/x-ndjson'],
  ])('as %s matches what was booked, and again changes nothing', async (format, accept) => {
    const from = new Date().toISOString();
    const flow = await open({ toolkit: onlyProxy });
    const delivered = await deliver(flow);
    const refused = await flow.submit({ fault: 'reject_422_charged' });
    await flow.drain();
    const text = await (
      await fetch(`${flow.sandbox.url}/v1/invoice?from=${from}`, {
        headers: { authorization: `Bearer ${flow.sandbox.apiKey}`, accept },
      })
    ).text();
    const first = await importText(flow, text, format);
    expect(first).toMatchObject({ kind: 'IMPORTED', repeated: false, invoice: { lineCount: 2 } });
    expect(await words(flow)).toEqual(['MATCHED EQUAL', 'MATCHED EQUAL']);
    expect((await items(flow)).map((item) => item['attempt_id'])).toEqual([
      (await flow.attempt(delivered)).id,
      (await flow.attempt(refused.id)).id,
    ]);
    expect(await invoiceCosts(flow)).toMatchObject([{ amount: 0.04 }, { amount: 0.04 }]);
    const again = await importText(flow, text, format);
    expect(again).toMatchObject({ kind: 'IMPORTED', repeated: true });
    expect(await invoiceCosts(flow)).toHaveLength(2);
    expect(await flow.findings()).toEqual([]);
    expect(
      await flow.look("SELECT actor, reason FROM audit_log WHERE action = 'invoice.import'"),
    ).toEqual([{ actor: 'api_key:operator', reason: 'monthly invoice' }]);
  });
});

describe('an item', () => {
  it('above or below what is booked is a difference and the platform’s cost', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const [first, second] = [await deliver(flow), await deliver(flow)];
    await importText(
      flow,
      line(flow, { job_id: await jobOf(flow, first), amount: '0.05' }) +
        line(flow, { job_id: await jobOf(flow, second), amount: '0.039999' }),
    );
    expect(await words(flow)).toEqual([
      'PRICE_DIFFERENCE ABOVE_BOOKED',
      'PRICE_DIFFERENCE BELOW_BOOKED',
    ]);
    expect(await flow.findings()).toEqual(['INVOICE_PRICE_DIFFERENCE', 'INVOICE_PRICE_DIFFERENCE']);
    expect((await flow.ledger(first)).map(({ kind }) => kind)).toEqual(['RESERVE', 'SETTLE']);
  });

  it('for a job that is charged twice, or that was there before, counts once', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const jobId = await jobOf(flow, await deliver(flow));
    const same = line(flow, { job_id: jobId });
    await importText(flow, same + line(flow, { job_id: jobId }) + same);
    expect(await words(flow)).toEqual([
      'MATCHED EQUAL',
      'DUPLICATE CHARGED_TWICE',
      'DUPLICATE ITEM_SEEN_BEFORE',
    ]);
    // On another invoice too.
    await importText(flow, same + line(flow, { job_id: jobId }));
    expect((await words(flow)).slice(3)).toEqual([
      'DUPLICATE ITEM_SEEN_BEFORE',
      'DUPLICATE CHARGED_TWICE',
    ]);
    expect(await invoiceCosts(flow)).toHaveLength(3);
  });

  it('for a job of nobody, of another provider, or of nothing is an orphan', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const jobId = await jobOf(flow, await deliver(flow));
    await flow.look(
      `INSERT INTO providers SELECT 'other', display_name, status, undecidable_policy, unknown_window_ms,
         absence_grace_ms, poll_interval_ms, output_hosts, charges_on_cancel, data_policy, created_at, updated_at
       FROM providers`,
    );
    const text =
      line(flow, { job_id: jobId }) + line(flow, { reference: 'somebody-else' }) + line(flow, {});
    await importText(flow, text, 'JSON_LINES', { providerId: 'other' });
    expect(await words(flow)).toEqual([
      'ORPHAN JOB_UNKNOWN',
      'ORPHAN REFERENCE_UNKNOWN',
      'ORPHAN NOTHING_NAMED',
    ]);
    expect(await flow.findings()).toEqual(['INVOICE_ORPHAN', 'INVOICE_ORPHAN', 'INVOICE_ORPHAN']);
    expect((await invoiceCosts(flow)).map((cost) => cost['attempt_id'])).toEqual([
      null,
      null,
      null,
    ]);
  });

  it('that is missing is told once', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const [listed, missing] = [await deliver(flow), await deliver(flow)];
    const text = line(flow, { job_id: await jobOf(flow, listed) });
    await importText(flow, text, 'JSON_LINES', { isComplete: true });
    expect(await items(flow)).toMatchObject([
      { class: 'MATCHED' },
      {
        class: 'UNCHARGED_SUCCESS',
        cause: 'NOT_ON_INVOICE',
        line_no: null,
        attempt_id: (await flow.attempt(missing)).id,
      },
    ]);
    expect(await openFindings(flow)).toEqual(['INVOICE_UNCHARGED_SUCCESS']);
    // It comes with a later invoice.
    await importText(flow, line(flow, { job_id: await jobOf(flow, missing) }));
    expect((await words(flow)).slice(2)).toEqual(['MATCHED EQUAL']);
    expect(await openFindings(flow)).toEqual([]);
  });

  it('is not on one part of an invoice is not missing', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const [listed, other] = [await deliver(flow), await deliver(flow)];
    await importText(flow, line(flow, { job_id: await jobOf(flow, listed) }));
    await importText(flow, line(flow, { job_id: await jobOf(flow, other) }));
    expect(await words(flow)).toEqual(['MATCHED EQUAL', 'MATCHED EQUAL']);
    expect(await openFindings(flow)).toEqual([]);
  });
});

describe('a charge that was unknown at the end', () => {
  it('is the platform’s, by default', async () => {
    const flow = await open();
    const id = await endUnknown(flow);
    await importText(flow, line(flow, { job_id: await jobOf(flow, id) }));
    expect(await items(flow)).toMatchObject([{ class: 'LATE', adjustment: 'NONE', adjusted: '0' }]);
    expect((await flow.ledger(id)).map(({ kind }) => kind)).toEqual(['RESERVE', 'RELEASE']);
    expect(await invoiceCosts(flow)).toHaveLength(1);
    expect(await flow.findings()).toContain('INVOICE_LATE');
  });

  it('is the tenant’s where its contract says so, up to the quote', async () => {
    const flow = await open({ tenant: { chargedFailureBearer: 'TENANT', credits: 100n } });
    const [first, second] = [await endUnknown(flow), await endUnknown(flow)];
    await importText(
      flow,
      line(flow, { job_id: await jobOf(flow, first) }) +
        line(flow, { job_id: await jobOf(flow, second), amount: '7.00' }),
    );
    expect(await flow.ledger(first)).toMatchObject([
      { kind: 'RESERVE' },
      { kind: 'RELEASE' },
      { kind: 'ADJUSTMENT', amount: 4n * MICROS_PER_CREDIT, reason: 'INVOICE_LATE' },
    ]);
    // The provider asks for 700 credits: the tenant pays the quote of 6.
    expect((await flow.balance()).availableMicros).toBe((100n - 4n - 6n) * MICROS_PER_CREDIT);
    const [entry] = await flow.look(
      "SELECT business_key, actor FROM credit_ledger WHERE kind = 'ADJUSTMENT' ORDER BY id",
    );
    expect(entry).toEqual({
      business_key: expect.stringMatching(/^adjustment:[0-9a-f-]{36}:item:chg_\d+$/) as string,
      actor: 'api_key:operator',
    });
  });

  it('that the tenant cannot pay stays the platform’s, and is told', async () => {
    const flow = await open({ tenant: { chargedFailureBearer: 'TENANT', credits: 6n } });
    const id = await endUnknown(flow);
    await flow.create();
    await importText(flow, line(flow, { job_id: await jobOf(flow, id) }));
    expect(await items(flow)).toMatchObject([
      { class: 'LATE', adjustment: 'INSUFFICIENT_CREDITS', adjusted: '-4000000' },
    ]);
    expect((await flow.balance()).availableMicros).toBe(0n);
  });

  it('and less than a tenant paid comes back to it', async () => {
    const flow = await open({ tenant: { chargedFailureBearer: 'TENANT' } });
    const { id } = await flow.submit({ fault: 'failed_charged' });
    await flow.finishJob(id);
    await flow.drain();
    await importText(flow, line(flow, { job_id: await jobOf(flow, id), amount: '0.03' }));
    expect((await flow.ledger(id)).at(-1)).toMatchObject({
      kind: 'ADJUSTMENT',
      amount: MICROS_PER_CREDIT,
      reason: 'INVOICE_PRICE_DIFFERENCE',
    });
    expect(await items(flow)).toMatchObject([{ adjustment: 'BOOKED', adjusted: '1000000' }]);
  });

  it('of a submit whose answer was lost is found by the reference that we gave', async () => {
    const flow = await open({ tenant: { chargedFailureBearer: 'TENANT' } });
    const id = await endUnknown(flow);
    const { requestKey } = await flow.attempt(id);
    await importText(flow, line(flow, { job_id: 'job-of-nobody', reference: requestKey }));
    expect((await items(flow))[0]).toMatchObject({ class: 'LATE', adjustment: 'BOOKED' });
  });
});

describe('a file that is broken', () => {
  it('counts for nothing, and every bad line is told with its number and code', async () => {
    const flow = await open();
    const good = line(flow, {});
    const text =
      good +
      'not json\n' +
      line(flow, { amount: '-1' }) +
      line(flow, { amount: '0.0000001' }) +
      line(flow, { amount: 0.04 }) +
      line(flow, { amount: '999999999999' }) +
      line(flow, { currency: 'EUR' }) +
      line(flow, { currency: 'usd' }) +
      line(flow, { at: 'yesterday' }) +
      line(flow, { at: '2020-01-01T00:00:00Z' }) +
      line(flow, { id: '' }) +
      line(flow, { job_id: 'a b' }) +
      line(flow, { reference: 'é' }) +
      `{"id": "${'x'.repeat(1_000_000)}"}\n` +
      '[]\n' +
      good;
    expect(await importText(flow, text)).toMatchObject({
      code: 'INVOICE_BROKEN',
      badLineCount: 14,
      badLines: [
        { lineNo: 2, code: 'JSON_INVALID' },
        { lineNo: 3, code: 'AMOUNT_INVALID' },
        { lineNo: 4, code: 'AMOUNT_INVALID' },
        { lineNo: 5, code: 'AMOUNT_INVALID' },
        { lineNo: 6, code: 'AMOUNT_TOO_LARGE' },
        { lineNo: 7, code: 'CURRENCY_WITHOUT_RATE' },
        { lineNo: 8, code: 'CURRENCY_INVALID' },
        { lineNo: 9, code: 'TIME_INVALID' },
        { lineNo: 10, code: 'OUTSIDE_PERIOD' },
        { lineNo: 11, code: 'ITEM_ID_INVALID' },
        { lineNo: 12, code: 'JOB_ID_INVALID' },
        { lineNo: 13, code: 'REFERENCE_INVALID' },
        { lineNo: 14, code: 'LINE_TOO_LONG' },
        { lineNo: 15, code: 'JSON_INVALID' },
      ],
    });
    expect(
      await flow.look(
        'SELECT id FROM provider_invoices UNION SELECT id FROM provider_costs UNION SELECT id FROM findings',
      ),
    ).toEqual([]);
  });

  it.each([
    '2026-11-31T00:00:00Z',
    '2026-02-29T12:00:00Z',
    '2026-11-30T24:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-11-30T23:59:60Z',
    '2026-11-30T12:00:00+24:00',
  ])('at a time that does not exist counts for nothing: %s', async (at) => {
    const flow = await open();
    expect(
      await importText(flow, line(flow, { at }), 'JSON_LINES', { start: new Date(0) }),
    ).toMatchObject({ badLines: [{ lineNo: 1, code: 'TIME_INVALID' }] });
  });

  it.each([
    ['id,job_id,amount\n1,2,3\n', [{ lineNo: 1, code: 'HEADER_INVALID' }]],
    [
      'id,job_id,reference,amount,currency,at,amount\n1,,,1,USD,x,2\n',
      [{ lineNo: 1, code: 'HEADER_INVALID' }],
    ],
    [
      'id,job_id,reference,amount,currency,at\n"a,,,1,USD,x\na,b\na"b,,,1,USD,x\n',
      [2, 3, 4].map((lineNo) => ({ lineNo, code: 'CSV_INVALID' })),
    ],
  ])('as CSV too: %j', async (text, badLines) => {
    const flow = await open();
    expect(await importText(flow, text, 'CSV')).toMatchObject({ code: 'INVOICE_BROKEN', badLines });
  });

  it('is refused when it is empty, of no provider, of no time, or without a reason', async () => {
    const flow = await open();
    const good = line(flow, {});
    expect(await importText(flow, '\n')).toMatchObject({ code: 'INVOICE_EMPTY' });
    expect(await importText(flow, good, 'JSON_LINES', { providerId: 'nobody' })).toMatchObject({
      code: 'PROVIDER_NOT_FOUND',
    });
    const now = flow.clock.now();
    expect(await importText(flow, good, 'JSON_LINES', { start: now, end: now })).toMatchObject({
      code: 'PERIOD_INVALID',
    });
    expect(await importText(flow, good, 'JSON_LINES', { reason: ' ' })).toMatchObject({
      code: 'REASON_REQUIRED',
    });
    expect(
      await importText(flow, Array.from({ length: 50_001 }, () => good).join('')),
    ).toMatchObject({ code: 'INVOICE_TOO_LARGE' });
  });
});

describe('imports at once', () => {
  it('of one file: one is applied, the others are repeats', async () => {
    const flow = await open({ tenant: { chargedFailureBearer: 'TENANT' } });
    const id = await endUnknown(flow);
    const text = line(flow, { job_id: await jobOf(flow, id) });
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => importText(flow, text)));
    expect(outcomes.map((each) => each.kind === 'IMPORTED' && each.repeated).sort()).toEqual([
      false,
      ...Array<boolean>(5).fill(true),
    ]);
    expect((await flow.ledger(id)).map(({ kind }) => kind)).toEqual([
      'RESERVE',
      'RELEASE',
      'ADJUSTMENT',
    ]);
  });

  it('of files that overlap: each item counts once, each attempt is corrected once', async () => {
    const flow = await open({ tenant: { chargedFailureBearer: 'TENANT' } });
    const id = await endUnknown(flow);
    const jobId = await jobOf(flow, id);
    const shared = line(flow, { job_id: jobId });
    await Promise.all(
      Array.from({ length: 4 }, () => importText(flow, shared + line(flow, { job_id: jobId }))),
    );
    expect((await words(flow)).sort()).toEqual(
      [
        ...Array<string>(4).fill('DUPLICATE CHARGED_TWICE'),
        ...Array<string>(3).fill('DUPLICATE ITEM_SEEN_BEFORE'),
        'LATE STILL_OPEN',
      ].sort(),
    );
    expect(await invoiceCosts(flow)).toHaveLength(5);
    expect((await flow.ledger(id)).filter(({ kind }) => kind === 'ADJUSTMENT')).toHaveLength(1);
  });
});

describe('an importer that dies', () => {
  it.each([
    ['invoice.before_commit', false],
    ['invoice.after_commit_before_answer', true],
  ] as const)(
    'at %s leaves all or nothing, and the file can be sent again',
    async (point, kept) => {
      const flow = await open({ tenant: { chargedFailureBearer: 'TENANT' } });
      const id = await endUnknown(flow);
      const text = line(flow, { job_id: await jobOf(flow, id) });
      flow.crashAt(point);
      await expect(importText(flow, text)).rejects.toThrow(SimulatedCrash);
      flow.disarm();
      expect(await items(flow)).toHaveLength(kept ? 1 : 0);
      expect(await importText(flow, text)).toMatchObject({ kind: 'IMPORTED', repeated: kept });
      expect((await flow.ledger(id)).filter(({ kind }) => kind === 'ADJUSTMENT')).toHaveLength(1);
    },
  );
});
