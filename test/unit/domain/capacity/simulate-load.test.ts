import fc from 'fast-check';

import { planCapacity, type Load } from '../../../../src/domain/capacity/plan-capacity';
import { scenarioProblems, type Scenario } from '../../../../src/domain/capacity/scenario';
import { seededRandom } from '../../../../src/domain/capacity/seeded-random';
import { simulateLoad } from '../../../../src/domain/capacity/simulate-load';

const scenario = (over: Partial<Scenario> = {}): Scenario => ({
  durationS: 3_600,
  ratePerS: 3,
  bursts: [],
  tenants: [{ name: 'a', share: 1, inFlightMax: 10_000, priority: 0 }],
  providers: [
    {
      name: 'p',
      share: 1,
      slots: 720,
      meanS: 180,
      spread: 0.5,
      failureShare: 0,
      unknownShare: 0,
      outages: [],
    },
  ],
  platformMax: 10_000,
  triesMax: 3,
  retryAfterS: 5,
  deadlineS: 1_800,
  unknownS: 300,
  callbackShare: 1,
  pollIntervalS: 10,
  outputSizeBytes: 60_000_000,
  mediaWorkers: 200,
  mediaS: 45,
  ...over,
});

const provider = (over: Partial<Scenario['providers'][number]>) => ({
  ...(scenario().providers[0] as Scenario['providers'][number]),
  ...over,
});

describe('given enough slots', () => {
  test('nobody waits, and as many are in flight as Little says', () => {
    const run = simulateLoad(scenario(), seededRandom(1));
    expect(run.queue.p95S).toBe(0);
    const settled = run.buckets.slice(3).map(({ inFlight }) => inFlight);
    const mean = settled.reduce((sum, each) => sum + each, 0) / settled.length;
    expect(mean).toBeGreaterThan(540 * 0.9);
    expect(mean).toBeLessThan(540 * 1.1);
  });
});

describe('given 400 slots for 3 a second that take 180 s', () => {
  const run = simulateLoad(
    scenario({ providers: [provider({ slots: 400, spread: 0 })] }),
    seededRandom(2),
  );

  test('the queue grows by what the formula says', () => {
    const load = { ratePerS: 3, heldS: 180, slots: 400 } as Load;
    const [early, late] = [run.buckets[4], run.buckets[7]];
    const grown = ((late?.waiting ?? 0) - (early?.waiting ?? 0)) / 900;
    expect(grown).toBeGreaterThan(planCapacity(load).queueGrowthPerS * 0.8);
    expect(grown).toBeLessThan(planCapacity(load).queueGrowthPerS * 1.2);
  });

  test('the limit is never passed, and the slots are busy all the time', () => {
    expect(run.inFlightMost).toBe(400);
    expect(run.utilization).toBeGreaterThan(0.9);
  });
});

describe('given a tenant that floods', () => {
  test('another one that has little in flight is served before it', () => {
    const tenants = [
      { name: 'flood', share: 20, inFlightMax: 10_000, priority: 0 },
      { name: 'small', share: 1, inFlightMax: 10_000, priority: 0 },
    ];
    const run = simulateLoad(
      scenario({ tenants, providers: [provider({ slots: 300 })] }),
      seededRandom(3),
    );
    expect(run.queueByTenant['flood']?.p50S).toBeGreaterThan(120);
    expect(run.queueByTenant['small']?.p95S).toBeLessThan(10);
  });

  test('a higher priority goes first', () => {
    const tenants = [
      { name: 'high', share: 1, inFlightMax: 10_000, priority: 1 },
      { name: 'low', share: 1, inFlightMax: 10_000, priority: 0 },
    ];
    const run = simulateLoad(
      scenario({ tenants, providers: [provider({ slots: 400 })] }),
      seededRandom(4),
    );
    expect(run.queueByTenant['high']?.p95S).toBeLessThan(5);
    expect(run.queueByTenant['low']?.p50S).toBeGreaterThan(120);
  });
});

describe('given a provider that is out for ten minutes', () => {
  test('the queue gets as old as the outage, and another provider goes on', () => {
    const outages = [{ fromS: 1_200, forS: 600 }];
    const run = simulateLoad(
      scenario({
        providers: [
          provider({ name: 'p', outages }),
          provider({ name: 'q', share: 1, slots: 720 }),
        ],
      }),
      seededRandom(5),
    );
    const during = run.buckets.find(({ fromS }) => fromS === 1_500);
    expect(run.queue.maxS).toBeGreaterThan(590);
    expect(run.queue.p50S).toBe(0);
    expect(during?.inFlight).toBeGreaterThan(200);
    expect(run.expired).toBe(0);
  });

  test('what waits longer than its deadline expires', () => {
    const outages = [{ fromS: 600, forS: 1_500 }];
    const run = simulateLoad(
      scenario({ deadlineS: 300, providers: [provider({ outages })] }),
      seededRandom(6),
    );
    expect(run.expired).toBeGreaterThan(3_000);
    expect(run.queue.maxS).toBeLessThanOrEqual(300);
  });
});

describe('given too few media workers', () => {
  test('what was generated waits for them', () => {
    const few = simulateLoad(scenario({ mediaWorkers: 60 }), seededRandom(7));
    const enough = simulateLoad(scenario({ mediaWorkers: 200 }), seededRandom(7));
    expect(few.media.p95S).toBeGreaterThan(120);
    expect(enough.media.p95S).toBe(0);
  });
});

test('polls find an end later than callbacks do', () => {
  const told = simulateLoad(scenario({ callbackShare: 1 }), seededRandom(8));
  const asked = simulateLoad(scenario({ callbackShare: 0, pollIntervalS: 60 }), seededRandom(8));
  expect(asked.total.p50S - told.total.p50S).toBeGreaterThan(15);
});

test('an unknown submit keeps its slot until it is decided', () => {
  const run = simulateLoad(
    scenario({
      unknownS: 900,
      providers: [provider({ unknownShare: 1, meanS: 10, slots: 10_000 })],
    }),
    seededRandom(9),
  );
  const settled = run.buckets[8]?.inFlight ?? 0;
  expect(settled).toBeGreaterThan(3 * 900 * 0.9);
});

test('the same numbers give the same run', () => {
  expect(simulateLoad(scenario(), seededRandom(10))).toEqual(
    simulateLoad(scenario(), seededRandom(10)),
  );
});

test('whatever is given, nothing is lost and no limit is passed', () => {
  fc.assert(
    fc.property(
      fc.record({
        seed: fc.nat(),
        ratePerS: fc.double({ min: 0.05, max: 4, noNaN: true }),
        slots: fc.integer({ min: 1, max: 60 }),
        inFlightMax: fc.integer({ min: 1, max: 40 }),
        failureShare: fc.double({ min: 0, max: 1, noNaN: true }),
        mediaWorkers: fc.integer({ min: 1, max: 20 }),
        deadlineS: fc.integer({ min: 1, max: 600 }),
      }),
      ({ seed, slots, inFlightMax, failureShare, ...over }) => {
        const run = simulateLoad(
          scenario({
            durationS: 900,
            ...over,
            tenants: ['a', 'b'].map((name) => ({ name, share: 1, inFlightMax, priority: 0 })),
            providers: [provider({ slots, failureShare, meanS: 30 })],
          }),
          seededRandom(seed),
        );
        expect(run.succeeded + run.failed + run.expired + run.left).toBe(run.arrivals);
        expect(run.left).toBeGreaterThanOrEqual(0);
        expect(run.inFlightMost).toBeLessThanOrEqual(Math.min(slots, 2 * inFlightMax));
        expect(run.queue.maxS).toBeLessThanOrEqual(over.deadlineS);
        const last = run.buckets.at(-1);
        expect(run.buckets.reduce((sum, { arrivals }) => sum + arrivals, 0)).toBe(run.arrivals);
        expect(last?.waiting ?? 0).toBeLessThanOrEqual(run.left);
      },
    ),
    { numRuns: 100 },
  );
});

test('says every problem of a scenario at once', () => {
  const problems = scenarioProblems(
    scenario({ ratePerS: 0, callbackShare: 2, providers: [provider({ slots: 0 })], tenants: [] }),
  );
  expect(problems).toEqual([
    'rate must be more than 0',
    'at least one tenant is needed',
    'slots of p must be more than 0',
    'callbacks must be from 0 to 1',
  ]);
});
