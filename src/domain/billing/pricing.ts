import { MICROS_PER_CREDIT, type Micros } from '../kernel/money';
import type { ModelOffer } from '../scheduling/routing';

/** 1 credit is one US cent of provider cost; kept with every quote and cost, so that it can change. */
export const CREDITS_PER_CURRENCY_UNIT = 100n;
const RATE_MICROS_PER_UNIT: Micros = CREDITS_PER_CURRENCY_UNIT * MICROS_PER_CREDIT;

/** Micro-credits for one unit of a currency, of those that have a rate. */
const RATES: Readonly<Record<string, Micros>> = { USD: RATE_MICROS_PER_UNIT };

/** Null for a currency without a rate: nothing is converted by guess. */
export const rateOf = (currency: string): Micros | null =>
  Object.hasOwn(RATES, currency) ? (RATES[currency] ?? null) : null;

export interface PricedRequest {
  readonly resolution: string;
  readonly durationMs: number;
  readonly withAudio: boolean;
}

/**
 * The price to the tenant: per second at the resolution, rounded up to a whole micro-credit.
 * Null when the model has no price for the resolution: nothing is ever priced by guess.
 */
export const priceOf = (offer: ModelOffer, request: PricedRequest): Micros | null => {
  const perSecond = offer.pricePerSecondMicros[request.resolution];
  if (perSecond === undefined) return null;
  return ceilDivide(perSecond * BigInt(request.durationMs), 1000n);
};

const ceilDivide = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;

/** An exact decimal amount of a provider's currency as micro-credits at `rateMicros` per unit, rounded up. */
export const costToMicros = (amount: string, rateMicros: Micros): Micros => {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(amount);
  if (match === null) throw new RangeError(`Not a plain decimal amount: ${amount}`);
  const fraction = match[2] ?? '';
  const scaled = BigInt(`${match[1] ?? '0'}${fraction}`) * rateMicros;
  return ceilDivide(scaled, 10n ** BigInt(fraction.length));
};
