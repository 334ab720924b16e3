import { toPublicId } from '../../../src/resolvers/public-id';
import { CREATE, REQUEST, useOwnApi, type RunningApi } from './support/running-api';

const open = useOwnApi();
let api: RunningApi;
const running = (): RunningApi => api;
beforeEach(async () => {
  api = await open();
});

const tenant = () => toPublicId('tenant', running().tenantId);

const adjust = (input: object) =>
  running().ask(
    `mutation ($input: CreditsAdjustInput!) {
       creditsAdjust(input: $input) { balance { available held } repeated userErrors { code field } }
     }`,
    { input: { direction: 'CREDIT', amount: '1', reference: 'r', reason: 'why', ...input } },
  );

const limit = (input: object) =>
  running().ask(
    `mutation ($input: SpendLimitSetInput!) {
       spendLimitSet(input: $input) { limits { apiKeyId period limit spent left } userErrors { code field } }
     }`,
    { input: { tenantId: tenant(), reason: 'why', ...input } },
  );

const create = async (key: string) =>
  (await running().ask(CREATE, { input: { ...REQUEST, idempotencyKey: key } })).data
    .generationCreate;

describe('a reference', () => {
  const attempts: [
    string,
    (reference: string) => Promise<{ readonly errors: readonly unknown[] }>,
  ][] = [
    ['of an adjustment', (reference) => adjust({ subjectId: tenant(), reference })],
    [
      'of a grant',
      (reference) =>
        running().ask(
          'mutation ($input: CreditsGrantInput!) { creditsGrant(input: $input) { repeated } }',
          { input: { tenantId: tenant(), amount: '1', reason: 'why', reference } },
        ),
    ],
    [
      'of a refund',
      (reference) =>
        running().ask(
          'mutation ($input: CreditsRefundInput!) { creditsRefund(input: $input) { repeated } }',
          {
            input: {
              ...{ generationId: 'gen_00000000000000000000000000', amount: '1', reason: 'why' },
              reference,
            },
          },
        ),
    ],
  ];
  it.each(attempts)('%s is what it looks like', async (_, send) => {
    const alike = ['REF-1 ', ' REF-1', 'REF-1\u200b', 'REF\u00a01', 'RE\u0301F', 'REF\n1'];
    for (const reference of ['  ', '\u200b', 'a\0b', '', 'x'.repeat(201), ...alike]) {
      const answer = await send(reference);
      expect([reference, answer.errors]).toMatchObject([
        reference,
        [{ extensions: { code: 'BAD_USER_INPUT' } }],
      ]);
    }
  });
});

describe('an adjustment', () => {
  it('goes both ways, once a reference, and shows in the ledger with reason and actor', async () => {
    const answer = await adjust({ subjectId: tenant(), amount: '2.5' });
    expect(answer.data.creditsAdjust).toEqual({
      balance: { available: '1002.5', held: '0' },
      repeated: false,
      userErrors: [],
    });
    expect((await adjust({ subjectId: tenant(), amount: '2.5' })).data.creditsAdjust).toMatchObject(
      {
        repeated: true,
      },
    );
    await adjust({ subjectId: tenant(), direction: 'DEBIT', amount: '1002.5', reference: 'all' });
    const { data } = await running().ask(
      '{ balance { available } ledgerEntries { nodes { kind amount availableChange reason actor } } }',
    );
    expect(data.balance).toEqual({ available: '0' });
    expect(data.ledgerEntries.nodes.slice(0, 2)).toEqual([
      {
        kind: 'ADJUSTMENT',
        amount: '1002.5',
        availableChange: '-1002.5',
        reason: 'why',
        actor: 'operator',
      },
      {
        kind: 'ADJUSTMENT',
        amount: '2.5',
        availableChange: '2.5',
        reason: 'why',
        actor: 'operator',
      },
    ]);
  });

  it.each([
    [{ subjectId: 'ten_00000000000000000000000000' }, 'SUBJECT_NOT_FOUND'],
    [{ subjectId: 'gen_00000000000000000000000000' }, 'SUBJECT_NOT_FOUND'],
    [{ amount: '0' }, 'AMOUNT_INVALID'],
    [{ reason: ' ' }, 'REASON_REQUIRED'],
    [{ direction: 'DEBIT', amount: '1000.000001' }, 'INSUFFICIENT_CREDITS'],
    [{ amount: '9223372036854.775807' }, 'BALANCE_TOO_LARGE'],
  ])('is refused for %j with %s, and books nothing', async (input, code) => {
    const before = await running().count('credit_ledger');
    const answer = await adjust({ subjectId: tenant(), ...input });
    expect(answer.data.creditsAdjust).toMatchObject({ balance: null, userErrors: [{ code }] });
    expect(await running().count('credit_ledger')).toBe(before);
  });

  it('of a fraction of a micro-credit, or below zero, is no money at all', async () => {
    for (const amount of ['0.0000001', '-1', '1e3']) {
      const answer = await adjust({ subjectId: tenant(), amount });
      expect(answer.errors[0]?.extensions['code']).toBe('BAD_USER_INPUT');
    }
  });
});

describe('a refund', () => {
  it('of what is only reserved is refused, and only operators may ask', async () => {
    const id = await api.create();
    const query = `mutation ($id: ID!) {
      creditsRefund(input: { generationId: $id, amount: "1", reason: "why" }) { repeated userErrors { code } }
    }`;
    expect((await api.ask(query, { id })).data.creditsRefund.userErrors).toEqual([
      { code: 'NOT_SETTLED' },
    ]);
    const token = await api.tokenOf(api.tenantId, ['ledger:read', 'generations:write']);
    expect((await api.ask(query, { id }, { token })).errors[0]?.extensions['code']).toBe(
      'FORBIDDEN',
    );
  });
});

describe('a budget', () => {
  it('refuses what it does not cover with its own code and what is left, and shows in balance and viewer', async () => {
    expect((await limit({ limit: '10' })).data.spendLimitSet).toEqual({
      limits: [{ apiKeyId: null, period: 'MONTH', limit: '10', spent: '0', left: '10' }],
      userErrors: [],
    });
    expect((await create('a')).generation).not.toBeNull();
    const refused = await create('b');
    expect(refused.userErrors).toEqual([
      {
        code: 'BUDGET_EXCEEDED',
        field: null,
        message: expect.stringMatching(/4 credits left; this generation costs 6/) as string,
      },
    ]);
    const shown = [{ limit: '10', spent: '6', left: '4' }];
    const { data } = await running().ask(
      '{ balance { limits { limit spent left } } viewer { spendLimits { limit spent left } } }',
    );
    expect(data).toEqual({ balance: { limits: shown }, viewer: { spendLimits: shown } });
    expect(
      await running().database.pool.query(
        `SELECT before, after FROM audit_log WHERE action = 'spend_limit.set'`,
      ),
    ).toMatchObject({
      rows: [{ before: null, after: { period: 'MONTH', limitMicros: '10000000' } }],
    });
  });

  it('of a key stops that key and no other', async () => {
    const { data } = await api.ask('{ viewer { apiKey { id } } }');
    await limit({ apiKeyId: data.viewer.apiKey.id, limit: '5', period: 'TOTAL' });
    expect((await create('a')).userErrors).toMatchObject([{ code: 'KEY_SPEND_LIMIT_EXCEEDED' }]);
    const token = await api.tokenOf(api.tenantId);
    const other = await api.ask(CREATE, { input: { ...REQUEST, idempotencyKey: 'b' } }, { token });
    expect(other.data.generationCreate.generation).not.toBeNull();
    // Taken away, it bounds nothing.
    await limit({ apiKeyId: data.viewer.apiKey.id });
    expect((await create('a')).generation).not.toBeNull();
  });

  it('of 32 creates at once on what covers 2 accepts exactly 2', async () => {
    await limit({ limit: '12.5' });
    const answers = await Promise.all(Array.from({ length: 32 }, (_, n) => create(`key-${n}`)));
    const codes = answers.flatMap((answer) =>
      answer.userErrors.map((each: { code: string }) => each.code),
    );
    expect(codes).toEqual(Array<string>(30).fill('BUDGET_EXCEEDED'));
    expect(await running().count('holds')).toBe(2);
  });

  it.each([
    [{ tenantId: 'ten_00000000000000000000000000', limit: '1' }, 'TENANT_NOT_FOUND'],
    [{ apiKeyId: 'key_00000000000000000000000000', limit: '1' }, 'API_KEY_NOT_FOUND'],
    [{ limit: '1', period: 'TOTAL' }, 'PERIOD_INVALID'],
    [{ limit: '1', reason: '' }, 'REASON_REQUIRED'],
  ])('is refused for %j with %s', async (input, code) => {
    expect((await limit(input)).data.spendLimitSet).toMatchObject({
      limits: null,
      userErrors: [{ code }],
    });
    expect(await running().count('spend_limits')).toBe(0);
  });
});

describe('while the ledger is out of reach', () => {
  it('a create is refused at the top with a code that may be tried again, and nothing is written', async () => {
    const client = await api.database.pool.connect();
    await client.query('BEGIN');
    await client.query('SELECT 1 FROM accounts FOR UPDATE');
    const started = process.hrtime.bigint();
    const answer = await api.ask(CREATE, { input: { ...REQUEST, idempotencyKey: 'a' } });
    const tookMs = Number(process.hrtime.bigint() - started) / 1e6;
    await client.query('ROLLBACK');
    client.release();
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.errors).toMatchObject([
      { extensions: { code: 'BILLING_UNAVAILABLE', retryable: true } },
    ]);
    expect(tookMs).toBeLessThan(5_000);
    expect(await api.count('generation_tasks')).toBe(0);
    expect((await create('a')).generation).not.toBeNull();
  });
});

describe('an invoice', () => {
  const importInvoice = (input: object, options = {}) =>
    running().ask(
      `mutation ($input: InvoiceImportInput!) {
         invoiceImport(input: $input) {
           invoice { id lines totals { class currency items amount cost booked difference } items { nodes { line class cause cost adjustment } } }
           repeated badLines { line code } badLineCount userErrors { code field }
         }
       }`,
      {
        input: {
          provider: 'sandbox',
          format: 'CSV',
          periodStart: '2026-01-01T00:00:00Z',
          periodEnd: '2027-01-01T00:00:00Z',
          reason: 'why',
          ...input,
        },
      },
      options,
    );
  const HEADER = 'id,job_id,reference,amount,currency,at\n';
  const row = (id: string, amount = '0.05') =>
    `${id},job-${id},,${amount},USD,2026-06-01T00:00:00Z\n`;

  it('is reported by class and item, can be read again, and repeats as a repeat', async () => {
    const text = HEADER + row('a') + row('b', '1.5') + row('a');
    const { invoiceImport } = (await importInvoice({ text })).data;
    expect(invoiceImport).toMatchObject({
      repeated: false,
      badLineCount: 0,
      userErrors: [],
      invoice: {
        lines: 3,
        totals: [
          { class: 'DUPLICATE', currency: 'USD', items: 1, amount: '0.05', difference: '5' },
          {
            class: 'ORPHAN',
            items: 2,
            amount: '1.55',
            cost: '155',
            booked: '0',
            difference: '155',
          },
        ],
        items: {
          nodes: [
            { line: 4, class: 'DUPLICATE', cause: 'ITEM_SEEN_BEFORE' },
            { line: 3, class: 'ORPHAN', cause: 'JOB_UNKNOWN', cost: '150', adjustment: 'NONE' },
            { line: 2, class: 'ORPHAN', cause: 'JOB_UNKNOWN', cost: '5' },
          ],
        },
      },
    });
    expect((await importInvoice({ text })).data.invoiceImport).toMatchObject({ repeated: true });
    const { data } = await running().ask(
      `query ($id: ID!) {
         invoices { nodes { id provider digest } }
         invoice(id: $id) { items(first: 1, class: [DUPLICATE, LATE]) { nodes { key } pageInfo { hasNextPage } } }
       }`,
      { id: invoiceImport.invoice.id },
    );
    expect(data).toMatchObject({
      invoices: { nodes: [{ id: invoiceImport.invoice.id, provider: 'sandbox' }] },
      invoice: { items: { nodes: [{ key: 'a' }], pageInfo: { hasNextPage: false } } },
    });
  });

  it('that is broken says where, and nothing of it is kept', async () => {
    const answer = await importInvoice({ text: HEADER + row('a') + row('b', '-1') });
    expect(answer.data.invoiceImport).toMatchObject({
      invoice: null,
      badLines: [{ line: 3, code: 'AMOUNT_INVALID' }],
      badLineCount: 1,
      userErrors: [{ code: 'INVOICE_BROKEN', field: 'text' }],
    });
    expect(await running().count('provider_costs')).toBe(0);
  });

  it('of 1 MB is taken from an operator, more is not, and others may send no such body', async () => {
    const rows = Math.floor((1_048_576 - HEADER.length) / row('0'.repeat(60)).length);
    const text =
      HEADER + Array.from({ length: rows }, (_, n) => row(String(n).padStart(60, '0'))).join('');
    const answer = await importInvoice({ text });
    expect(answer.data.invoiceImport).toMatchObject({ invoice: { lines: rows }, userErrors: [] });
    expect(
      (await importInvoice({ text: `${text}${row('x').repeat(30)}` })).data.invoiceImport,
    ).toMatchObject({ userErrors: [{ code: 'INVOICE_TOO_LARGE' }] });
    const token = await running().tokenOf(running().tenantId, ['generations:write']);
    expect((await importInvoice({ text }, { token })).status).toBe(413);
    expect((await importInvoice({ text: HEADER }, { token })).errors[0]?.extensions['code']).toBe(
      'FORBIDDEN',
    );
  }, 120_000);
});
