import {
  fetchBytesPerS,
  inFlight,
  mediaWorkersBusy,
  outputsPerS,
  pollIntervalS,
  pollsPerS,
  queueGrowthPerS,
  slotsFor,
  stableRatePerS,
  subscriptionBytes,
  writesPerS,
} from '../../../../src/domain/capacity/formulas';

const MEGABYTE = 1_000_000;

describe('three generations a second, three minutes each', () => {
  it('have 540 jobs in flight and want 720 slots at 75 % use', () => {
    expect(inFlight(3, 180)).toBe(540);
    expect(slotsFor(3, 180, 0.75)).toBe(720);
  });

  it('are more than 400 slots sustain: the queue grows by some 47 a minute', () => {
    expect(stableRatePerS(400, 180)).toBeCloseTo(2.22, 2);
    expect(queueGrowthPerS(3, 400, 180)).toBeCloseTo(0.78, 2);
    expect(queueGrowthPerS(3, 400, 180) * 60).toBeCloseTo(46.67, 2);
    expect(queueGrowthPerS(3, 720, 180)).toBe(0);
  });

  it('are polled 54 times a second every 10 s, and 5,000 jobs 500 times', () => {
    expect(pollsPerS(540, 10)).toBe(54);
    expect(pollsPerS(5_000, 10)).toBe(500);
    expect(pollIntervalS(5_000, 50)).toBe(100);
  });

  it('bring 162 MB/s to fetch and keep 121.5 media workers busy', () => {
    expect(fetchBytesPerS(3, 0.9, 60 * MEGABYTE)).toBeCloseTo(162 * MEGABYTE, 3);
    expect(outputsPerS(3, 0.9)).toBeCloseTo(2.7, 9);
    expect(mediaWorkersBusy(2.7, 45)).toBeCloseTo(121.5, 9);
  });

  it('write 42 rows a second', () => {
    expect(writesPerS(3, 14)).toBe(42);
  });
});

describe('open subscriptions', () => {
  it('of 100,000 clients take 2 GB', () => {
    expect(subscriptionBytes(100_000, 20_000)).toBe(2_000 * MEGABYTE);
  });
});

describe('slots', () => {
  it('are whole, and not one more for a rounding error', () => {
    expect(slotsFor(0.1, 3, 1)).toBe(1);
    expect(slotsFor(3, 0.1, 0.3)).toBe(1);
    expect(slotsFor(1, 10, 0.9)).toBe(12);
  });
});
