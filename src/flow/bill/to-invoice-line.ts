import type { InvoiceLine } from '../../domain/billing/invoice';
import { costToMicros, rateOf } from '../../domain/billing/pricing';
import { MICROS_MAX } from '../../domain/kernel/money';
import { isBookableCharge } from '../../domain/provider/charge';
import type { TooLong } from './read-lines';

export type LineFault =
  | TooLong
  | 'HEADER_INVALID'
  | 'CSV_INVALID'
  | 'JSON_INVALID'
  | 'KEY_TWICE'
  | 'ITEM_ID_INVALID'
  | 'JOB_ID_INVALID'
  | 'REFERENCE_INVALID'
  | 'AMOUNT_INVALID'
  | 'AMOUNT_TOO_LARGE'
  | 'CURRENCY_INVALID'
  | 'CURRENCY_WITHOUT_RATE'
  | 'TIME_INVALID'
  | 'OUTSIDE_PERIOD';

/** As the file has it: nothing is known of the types. */
export type RawItem = Readonly<Record<string, unknown>>;

/** Half open: `end` is the first instant that is no longer in it. */
export interface InvoicePeriod {
  readonly start: Date;
  readonly end: Date;
}

const NAME = /^[\x21-\x7e]{1,200}$/;
const CURRENCY = /^[A-Z]{3}$/;
const INSTANT =
  /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** The line, or what is wrong with it. An amount is a plain decimal text: a number of JSON is none that can be trusted. */
export const toInvoiceLine = (
  raw: RawItem,
  lineNo: number,
  period: InvoicePeriod,
): InvoiceLine | LineFault => {
  const { id, amount, currency, at } = raw;
  const jobId = raw['job_id'] ?? null;
  const reference = raw['reference'] ?? null;
  if (typeof id !== 'string' || !NAME.test(id)) return 'ITEM_ID_INVALID';
  if (jobId !== null && !isName(jobId)) return 'JOB_ID_INVALID';
  if (reference !== null && !isName(reference)) return 'REFERENCE_INVALID';
  if (typeof currency !== 'string' || !CURRENCY.test(currency)) return 'CURRENCY_INVALID';
  if (typeof amount !== 'string' || !isBookableCharge({ amount, currency })) {
    return 'AMOUNT_INVALID';
  }
  const rateMicros = rateOf(currency);
  if (rateMicros === null) return 'CURRENCY_WITHOUT_RATE';
  const costMicros = costToMicros(amount, rateMicros);
  if (costMicros > MICROS_MAX) return 'AMOUNT_TOO_LARGE';
  const chargedAt = typeof at === 'string' ? toInstant(at) : null;
  if (chargedAt === null) return 'TIME_INVALID';
  if (chargedAt < period.start || chargedAt >= period.end) return 'OUTSIDE_PERIOD';
  return { lineNo, key: id, jobId, reference, amount, currency, costMicros, chargedAt };
};

const isName = (value: unknown): value is string => typeof value === 'string' && NAME.test(value);

/** A day that the calendar does not have is none: `Date` alone would take the 31st of November for the 1st of December. */
const toInstant = (text: string): Date | null => {
  const day = INSTANT.exec(text)?.[1];
  if (day === undefined) return null;
  const midnight = new Date(`${day}T00:00:00Z`);
  const exists = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
  return exists ? new Date(text) : null;
};
