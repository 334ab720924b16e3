import { planCapacity } from '../../../../src/domain/capacity/plan-capacity';

test('three generations a second of three minutes each', () => {
  const plan = planCapacity({
    ratePerS: 3,
    heldS: 180,
    slots: 720,
    utilization: 0.75,
    successShare: 0.9,
    outputSizeBytes: 60_000_000,
    mediaS: 45,
    mediaWorkers: 100,
    pollIntervalS: 10,
    pollsPerSMax: 50,
    writesPerTask: 14,
    subscriptions: 100_000,
    subscriptionSizeBytes: 20_000,
  });
  expect(plan).toEqual({
    jobsInFlight: 540,
    slotsNeeded: 720,
    stableRatePerS: 4,
    queueGrowthPerS: 0,
    pollsPerS: 54,
    pollIntervalNeededS: 10.8,
    fetchBytesPerS: 162_000_000,
    mediaWorkersBusy: expect.closeTo(121.5) as number,
    mediaBacklogPerS: expect.closeTo(2.7 - 100 / 45) as number,
    writesPerS: 42,
    subscriptionBytes: 2_000_000_000,
  });
});

test('400 slots let through what they can, and the queue grows by the rest', () => {
  const plan = planCapacity({
    ratePerS: 3,
    heldS: 180,
    slots: 400,
    utilization: 0.75,
    successShare: 1,
    outputSizeBytes: 1,
    mediaS: 45,
    mediaWorkers: 1_000,
    pollIntervalS: 10,
    pollsPerSMax: 50,
    writesPerTask: 14,
    subscriptions: 0,
    subscriptionSizeBytes: 0,
  });
  expect(plan.jobsInFlight).toBeCloseTo(400);
  expect(plan.queueGrowthPerS * 60).toBeCloseTo(46.7, 0);
});
