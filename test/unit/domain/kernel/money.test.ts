import fc from 'fast-check';
import { formatCredits, minMicros, parseCredits } from '../../../../src/domain/kernel/money';

describe('credits as text', () => {
  it.each([
    ['0', 0n],
    ['1', 1_000_000n],
    ['1.25', 1_250_000n],
    ['0.000001', 1n],
    ['1.250000', 1_250_000n],
    ['9999999999999.999999', 9_999_999_999_999_999_999n],
  ] as const)('%s is %s micro-credits', (text, micros) => {
    expect(parseCredits(text)).toBe(micros);
  });

  it.each([
    ...['', ' 1', '1 ', '+1', '-1', '01', '00', '.5', '1.', '1,5', '1.0000001', '1e3', '0x10'],
    ...['NaN', 'Infinity', '１', '1_000', '10000000000000', '1\n'],
  ])('%j is no amount', (text) => {
    expect(parseCredits(text)).toBeNull();
  });

  it.each([
    [0n, '0'],
    [1_250_000n, '1.25'],
    [-500_000n, '-0.5'],
    [1n, '0.000001'],
    [-1n, '-0.000001'],
    [10_000_000n, '10'],
  ] as const)('%s micro-credits are shown as %s', (micros, text) => {
    expect(formatCredits(micros)).toBe(text);
  });

  it('come back from text as they were', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 9_999_999_999_999_999_999n }), (micros) => {
        expect(parseCredits(formatCredits(micros))).toBe(micros);
      }),
    );
  });

  it('have one shortest text: no trailing zeros, no trailing point', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), (micros) => {
        expect(formatCredits(micros)).toMatch(/^-?(0|[1-9]\d*)(\.\d{0,5}[1-9])?$/);
      }),
    );
  });

  it('compare as integers', () => {
    expect(minMicros(2n, 10n)).toBe(2n);
    expect(minMicros(10n, 2n)).toBe(2n);
  });
});
