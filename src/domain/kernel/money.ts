/**
 * Money inside the product: integer micro-credits (1 credit = 1,000,000 micro-credits), carried as
 * `bigint`. Decimal strings appear only at the edge.
 */
export type Micros = bigint;

export const MICROS_PER_CREDIT = 1_000_000n;

/** The largest amount that the books can hold, in one entry and in one account. */
export const MICROS_MAX: Micros = 2n ** 63n - 1n;

const DECIMAL_CREDITS = /^(0|[1-9]\d{0,12})(\.\d{1,6})?$/;

/** Credits as a decimal string (`"1.25"`) to micro-credits; null when not a plain non-negative decimal with at most 6 places. */
export const parseCredits = (text: string): Micros | null => {
  if (!DECIMAL_CREDITS.test(text)) return null;
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole) * MICROS_PER_CREDIT + BigInt(fraction.padEnd(6, '0') || '0');
};

/** Micro-credits to a decimal string of credits without trailing zeros (`"1.25"`, `"-0.5"`). */
export const formatCredits = (micros: Micros): string => {
  const sign = micros < 0n ? '-' : '';
  const absolute = micros < 0n ? -micros : micros;
  const whole = absolute / MICROS_PER_CREDIT;
  const fraction = (absolute % MICROS_PER_CREDIT).toString().padStart(6, '0').replace(/0+$/, '');
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`;
};

export const minMicros = (a: Micros, b: Micros): Micros => (a < b ? a : b);
