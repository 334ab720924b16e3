/**
 * How much of each part a load needs. Rates are per second, times in seconds, sizes in bytes; all
 * are averages in a steady state, so plan for the peak's rate and not the day's.
 */

/** Little's law: jobs at the providers at any moment, for `rate` submits that each take `durationS`. */
export const inFlight = (ratePerS: number, durationS: number): number => ratePerS * durationS;

/**
 * Concurrency slots that serve the load when only `utilization` (0–1) of them shall be busy; the rest
 * takes the swings. Rounded up: there is no part of a slot.
 */
export const slotsFor = (ratePerS: number, durationS: number, utilization: number): number =>
  // A quotient that differs from a whole number by a rounding error is that whole number.
  Math.ceil(Number((inFlight(ratePerS, durationS) / utilization).toFixed(9)));

/** The rate that a number of slots can sustain for ever. */
export const stableRatePerS = (slots: number, durationS: number): number => slots / durationS;

/** How long until `places` of so many slots, all busy, have come free one after the other; in the unit of the duration. */
export const waitMs = (places: number, slots: number, heldMs: number): number =>
  places / stableRatePerS(slots, heldMs);

/** By how much the queue grows per second when the slots cannot follow; 0 when they can. */
export const queueGrowthPerS = (ratePerS: number, slots: number, durationS: number): number =>
  Math.max(0, ratePerS - stableRatePerS(slots, durationS));

/** Status queries per second if each job in flight is asked once per interval. */
export const pollsPerS = (jobsInFlight: number, intervalS: number): number =>
  jobsInFlight / intervalS;

/** The shortest mean interval that keeps the queries of all jobs within a budget. */
export const pollIntervalS = (jobsInFlight: number, pollsPerSMax: number): number =>
  jobsInFlight / pollsPerSMax;

/** Outputs to fetch per second: the submits that end well. */
export const outputsPerS = (ratePerS: number, successShare: number): number =>
  ratePerS * successShare;

/** Bytes per second from the providers into our own storage. */
export const fetchBytesPerS = (
  ratePerS: number,
  successShare: number,
  outputSizeBytes: number,
): number => outputsPerS(ratePerS, successShare) * outputSizeBytes;

/** Media workers that are busy on average; not rounded, so that head-room is added knowingly. */
export const mediaWorkersBusy = (outputRatePerS: number, processingS: number): number =>
  outputRatePerS * processingS;

/** Row writes per second, for `writesPerTask` transitions, events and messages of one generation. */
export const writesPerS = (ratePerS: number, writesPerTask: number): number =>
  ratePerS * writesPerTask;

/** Memory that open subscriptions take. */
export const subscriptionBytes = (subscriptions: number, bytesEach: number): number =>
  subscriptions * bytesEach;
