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
} from './formulas';

/** What is asked of the platform in its busiest hour. Rates are per second, times in seconds, sizes in bytes. */
export interface Load {
  readonly ratePerS: number;
  /** How long a submit keeps its slot. */
  readonly heldS: number;
  readonly slots: number;
  /** Share of the slots that shall be busy, 0–1. */
  readonly utilization: number;
  /** Share of submits that end in an output, 0–1. */
  readonly successShare: number;
  readonly outputSizeBytes: number;
  readonly mediaS: number;
  readonly mediaWorkers: number;
  readonly pollIntervalS: number;
  readonly pollsPerSMax: number;
  readonly writesPerTask: number;
  readonly subscriptions: number;
  readonly subscriptionSizeBytes: number;
}

/** What the load needs, and what the given slots and workers make of it. */
export interface CapacityPlan {
  readonly jobsInFlight: number;
  readonly slotsNeeded: number;
  readonly stableRatePerS: number;
  readonly queueGrowthPerS: number;
  readonly pollsPerS: number;
  /** The mean interval that keeps polling within its budget. */
  readonly pollIntervalNeededS: number;
  readonly fetchBytesPerS: number;
  readonly mediaWorkersBusy: number;
  readonly mediaBacklogPerS: number;
  readonly writesPerS: number;
  readonly subscriptionBytes: number;
}

/** The answers of the formulas for one load. Jobs in flight are those that the slots let through. */
export const planCapacity = (load: Load): CapacityPlan => {
  const servedPerS = Math.min(load.ratePerS, stableRatePerS(load.slots, load.heldS));
  const jobsInFlight = inFlight(servedPerS, load.heldS);
  const outputRatePerS = outputsPerS(servedPerS, load.successShare);
  return {
    jobsInFlight,
    slotsNeeded: slotsFor(load.ratePerS, load.heldS, load.utilization),
    stableRatePerS: stableRatePerS(load.slots, load.heldS),
    queueGrowthPerS: queueGrowthPerS(load.ratePerS, load.slots, load.heldS),
    pollsPerS: pollsPerS(jobsInFlight, load.pollIntervalS),
    pollIntervalNeededS: pollIntervalS(jobsInFlight, load.pollsPerSMax),
    fetchBytesPerS: fetchBytesPerS(servedPerS, load.successShare, load.outputSizeBytes),
    mediaWorkersBusy: mediaWorkersBusy(outputRatePerS, load.mediaS),
    mediaBacklogPerS: queueGrowthPerS(outputRatePerS, load.mediaWorkers, load.mediaS),
    writesPerS: writesPerS(servedPerS, load.writesPerTask),
    subscriptionBytes: subscriptionBytes(load.subscriptions, load.subscriptionSizeBytes),
  };
};
