import fc from 'fast-check';
import { costToMicros, priceOf, rateOf } from '../../../../src/domain/billing/pricing';
import { newOffer } from '../support/new-offer';

const RATE_MICROS_PER_UNIT = rateOf('USD') ?? 0n;

describe('the price to the tenant', () => {
  it.each([
    ['720p', 1_000, 1_000_001n],
    ['720p', 4_000, 4_000_004n],
    ['720p', 1_500, 1_500_002n], // 1,500,001.5 rounded up
    ['720p', 1, 1_001n], // 1,000.001 rounded up
    ['1080p', 8_000, 24_000_000n],
    ['1080p', 0, 0n],
  ] as const)('of %s for %s ms is %s micro-credits', (resolution, durationMs, expected) => {
    expect(priceOf(newOffer(), { resolution, durationMs, withAudio: false })).toBe(expected);
  });

  it('is never guessed: no price for the resolution, no total', () => {
    const request = { resolution: '4k', durationMs: 4_000, withAudio: false };
    expect(priceOf(newOffer(), request)).toBeNull();
  });

  it('is exact where a float is not', () => {
    const offer = newOffer({ pricePerSecondMicros: { '720p': 9_007_199_254_740_993n } });
    const request = { resolution: '720p', durationMs: 3_000, withAudio: false };
    expect(priceOf(offer, request)).toBe(27_021_597_764_222_979n);
  });

  it('is rounded up by less than one micro-credit', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 12n }), fc.nat(600_000), (rate, durationMs) => {
        const offer = newOffer({ pricePerSecondMicros: { '720p': rate } });
        const price = priceOf(offer, { resolution: '720p', durationMs, withAudio: false }) ?? -1n;
        const excess = price * 1000n - rate * BigInt(durationMs);
        expect(excess >= 0n && excess < 1000n).toBe(true);
      }),
    );
  });
});

describe("a provider's cost in credits", () => {
  it.each([
    ['1', 100_000_000n],
    ['0.01', 1_000_000n],
    ['0.12345678', 12_345_678n],
    ['0.000000001', 1n], // 0.1 micro-credits rounded up
    ['0', 0n],
    ['0.000', 0n],
  ] as const)('of %s dollars is %s micro-credits', (amount, expected) => {
    expect(costToMicros(amount, RATE_MICROS_PER_UNIT)).toBe(expected);
  });

  it.each(['', '-1', '1e-7', '1,5', '.5', '1.', ' 1', 'NaN'])(
    'refuses the amount "%s"',
    (amount) => {
      expect(() => costToMicros(amount, RATE_MICROS_PER_UNIT)).toThrow(RangeError);
    },
  );
});

describe('the rate of a currency', () => {
  it('is known or not; nothing is converted by guess', () => {
    expect(rateOf('USD')).toBe(100_000_000n);
    expect(rateOf('EUR')).toBeNull();
    expect(rateOf('constructor')).toBeNull();
  });
});
