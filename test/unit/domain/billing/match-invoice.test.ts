import fc from 'fast-check';

import { adjustmentAfterInvoice } from '../../../../src/domain/billing/adjustment';
import type { InvoicedAttempt, InvoiceLine } from '../../../../src/domain/billing/invoice';
import { matchInvoice } from '../../../../src/domain/billing/match-invoice';
import type { ChargedFailureBearer } from '../../../../src/domain/billing/settlement';
import { ATTEMPT_STATUSES } from '../../../../src/domain/attempt/statuses';
import { TERMINAL_TASK_STATUSES } from '../../../../src/domain/generation/statuses';

const line = (changes: Partial<InvoiceLine> = {}): InvoiceLine => ({
  lineNo: 1,
  key: 'c1',
  jobId: 'j1',
  reference: null,
  amount: '0.04',
  currency: 'USD',
  costMicros: 4_000_000n,
  chargedAt: new Date(0),
  ...changes,
});

const attempt = (changes: Partial<InvoicedAttempt> = {}): InvoicedAttempt => ({
  id: 'a1',
  taskId: 't1',
  tenantId: 'n1',
  status: 'SUCCEEDED',
  jobId: 'j1',
  requestKey: 'r1',
  booked: { amount: '0.040000', currency: 'USD' },
  ...changes,
});

const match = (lines: InvoiceLine[], attempts: InvoicedAttempt[], before: string[] = []) =>
  matchInvoice(lines, {
    attempts,
    seenKeys: new Set(),
    chargedBefore: new Set(before),
  }).map((verdict) => `${verdict.class} ${verdict.cause}`);

describe('a line of an invoice', () => {
  it.each<[string, Partial<InvoiceLine>, Partial<InvoicedAttempt>, string]>([
    ['with other zeros', { amount: '00.0400' }, {}, 'MATCHED EQUAL'],
    ['of more', { amount: '0.05', costMicros: 5_000_000n }, {}, 'PRICE_DIFFERENCE ABOVE_BOOKED'],
    ['of less', { amount: '0.01', costMicros: 1_000_000n }, {}, 'PRICE_DIFFERENCE BELOW_BOOKED'],
    [
      'in another currency',
      {},
      { booked: { amount: '0.04', currency: 'EUR' } },
      'PRICE_DIFFERENCE OTHER_CURRENCY',
    ],
    [
      'of nothing for what cost nothing',
      { amount: '0', costMicros: 0n },
      { booked: null },
      'MATCHED EQUAL',
    ],
    ['by reference alone', { jobId: null, reference: 'r1' }, { jobId: null }, 'MATCHED EQUAL'],
    ['of an unknown job with our reference', { jobId: 'j9', reference: 'r1' }, {}, 'MATCHED EQUAL'],
    ['of an unknown job', { jobId: 'j9' }, {}, 'ORPHAN JOB_UNKNOWN'],
    ['of an unknown reference', { jobId: null, reference: 'r9' }, {}, 'ORPHAN REFERENCE_UNKNOWN'],
    ['of nothing', { jobId: null }, {}, 'ORPHAN NOTHING_NAMED'],
  ])('%s is told', (_, changes, of, expected) => {
    expect(match([line(changes)], [attempt(of)])).toEqual([expected]);
  });

  it.each(ATTEMPT_STATUSES)('for an attempt %s without a known charge is late', (status) => {
    const [verdict] = match([line()], [attempt({ status, booked: null })]);
    const cause = {
      FAILED_BEFORE_ACCEPT: 'NEVER_ACCEPTED',
      ABANDONED: 'GIVEN_UP',
      SUCCEEDED: 'ENDED_WITHOUT_CHARGE',
      FAILED: 'ENDED_WITHOUT_CHARGE',
      CANCELED: 'ENDED_WITHOUT_CHARGE',
    }[status as string];
    expect(verdict).toBe(`LATE ${cause ?? 'STILL_OPEN'}`);
  });

  it('charges once: an attempt, a job of nobody, an item', () => {
    const twice = [line(), line({ key: 'c2' }), line({ key: 'c3', jobId: null, reference: 'r1' })];
    expect(match(twice, [attempt()])).toEqual([
      'MATCHED EQUAL',
      'DUPLICATE CHARGED_TWICE',
      'DUPLICATE CHARGED_TWICE',
    ]);
    expect(match([line(), line({ key: 'c2' })], [])).toEqual([
      'ORPHAN JOB_UNKNOWN',
      'DUPLICATE CHARGED_TWICE',
    ]);
    expect(match([line(), line()], [attempt()])).toEqual([
      'MATCHED EQUAL',
      'DUPLICATE ITEM_SEEN_BEFORE',
    ]);
    expect(match([line()], [attempt()], ['a1'])).toEqual(['DUPLICATE CHARGED_TWICE']);
  });
});

describe('what an invoice changes for a tenant', () => {
  const hold = {
    end: 'EXPIRED' as const,
    heldMicros: 100n,
    settledMicros: 0n,
    givenBackMicros: 0n,
    deliveredMicros: 100n,
    bearer: 'TENANT' as ChargedFailureBearer,
  };

  it.each([
    [hold, 30n, -30n],
    [hold, 300n, -100n],
    [{ ...hold, bearer: 'PLATFORM' as const }, 30n, 0n],
    [{ ...hold, settledMicros: 40n }, 30n, 10n],
    [{ ...hold, settledMicros: 40n, givenBackMicros: 35n }, 30n, 5n],
    [{ ...hold, settledMicros: 40n, bearer: 'PLATFORM' as const }, 30n, 10n],
    [{ ...hold, end: 'SUCCEEDED' as const, settledMicros: 100n }, 900n, 0n],
    [{ ...hold, end: 'FAILED_FINAL' as const, bearer: 'PLATFORM' as const }, 30n, 0n],
  ])('%# follows the rule of settlement', (settled, cost, delta) => {
    expect(adjustmentAfterInvoice(settled, cost)).toBe(delta);
  });

  it('never takes more than the quote, never gives more than was paid, never charges without a contract', () => {
    const amount = fc.bigInt({ min: 0n, max: 1_000n });
    fc.assert(
      fc.property(
        fc.constantFrom(...TERMINAL_TASK_STATUSES),
        fc.constantFrom<ChargedFailureBearer>('PLATFORM', 'TENANT'),
        fc.tuple(amount, amount, amount, amount),
        (end, bearer, [held, some, back, cost]) => {
          const settledMicros = some > held ? held : some;
          const givenBackMicros = back > settledMicros ? settledMicros : back;
          const delta = adjustmentAfterInvoice(
            {
              end,
              bearer,
              heldMicros: held,
              settledMicros,
              givenBackMicros,
              deliveredMicros: held,
            },
            cost,
          );
          expect(settledMicros - delta).toBeLessThanOrEqual(held);
          expect(delta).toBeLessThanOrEqual(settledMicros - givenBackMicros);
          if (bearer === 'PLATFORM') expect(delta).toBeGreaterThanOrEqual(0n);
        },
      ),
    );
  });
});
