/** A span in which something is different. Times in seconds from the start. */
export interface Span {
  readonly fromS: number;
  readonly forS: number;
}

export interface SimulatedTenant {
  readonly name: string;
  /** Its part of the arrivals, in proportion to the other tenants' shares. */
  readonly share: number;
  readonly inFlightMax: number;
  /** Higher is served first, as in the scheduler's own query. */
  readonly priority: number;
}

export interface SimulatedProvider {
  readonly name: string;
  /** Its part of the demand: a named model is never served by another provider. */
  readonly share: number;
  readonly slots: number;
  /** How long a job takes: the mean, and how it spreads (standard deviation of the logarithm; 0 = always the mean). */
  readonly meanS: number;
  readonly spread: number;
  /** Share of submits that fail and may be tried again, 0–1. */
  readonly failureShare: number;
  /** Share of submits whose answer is lost, 0–1: they keep their slot until a look decides. */
  readonly unknownShare: number;
  readonly outages: readonly Span[];
}

/** What is simulated. Rates per second, times in seconds, sizes in bytes. */
export interface Scenario {
  readonly durationS: number;
  readonly ratePerS: number;
  /** Times in which arrivals come `factor` times as fast. */
  readonly bursts: readonly (Span & { readonly factor: number })[];
  readonly tenants: readonly SimulatedTenant[];
  readonly providers: readonly SimulatedProvider[];
  readonly platformMax: number;
  readonly triesMax: number;
  readonly retryAfterS: number;
  /** What has waited longer than this ends EXPIRED. */
  readonly deadlineS: number;
  /** How long it takes until an unknown submit is decided. */
  readonly unknownS: number;
  /** Share of ends that a callback tells; the others are found by the next poll. */
  readonly callbackShare: number;
  readonly pollIntervalS: number;
  readonly outputSizeBytes: number;
  readonly mediaWorkers: number;
  readonly mediaS: number;
}

/** The state at the end of one part of the time, and what happened in it. */
export interface Bucket {
  readonly fromS: number;
  readonly arrivals: number;
  readonly ended: number;
  readonly waiting: number;
  /** How long the one that has waited longest has waited. */
  readonly oldestS: number;
  readonly inFlight: number;
  readonly mediaWaiting: number;
  readonly pollsPerS: number;
  readonly fetchBytesPerS: number;
}

export interface Waits {
  readonly count: number;
  readonly p50S: number;
  readonly p95S: number;
  readonly maxS: number;
}

export interface Simulated {
  readonly arrivals: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly expired: number;
  /** Still under way when the time was over. */
  readonly left: number;
  readonly submits: number;
  readonly inFlightMost: number;
  /** Busy part of all slots, averaged over the time. */
  readonly utilization: number;
  readonly queue: Waits;
  readonly queueByTenant: Readonly<Record<string, Waits>>;
  /** From create to playable. */
  readonly total: Waits;
  readonly media: Waits;
  readonly buckets: readonly Bucket[];
}

/** Each part that makes a scenario impossible to simulate, as one line. */
export const scenarioProblems = (scenario: Scenario): string[] => {
  const positive = (name: string, value: number): string[] =>
    Number.isFinite(value) && value > 0 ? [] : [`${name} must be more than 0`];
  const share = (name: string, value: number): string[] =>
    value >= 0 && value <= 1 ? [] : [`${name} must be from 0 to 1`];
  return [
    ...positive('duration', scenario.durationS),
    ...positive('rate', scenario.ratePerS),
    ...positive('poll interval', scenario.pollIntervalS),
    ...positive('deadline', scenario.deadlineS),
    ...positive('media workers', scenario.mediaWorkers),
    ...(scenario.tenants.length === 0 ? ['at least one tenant is needed'] : []),
    ...(scenario.providers.length === 0 ? ['at least one provider is needed'] : []),
    ...scenario.tenants.flatMap((each) => positive(`share of ${each.name}`, each.share)),
    ...scenario.providers.flatMap((each) => [
      ...positive(`share of ${each.name}`, each.share),
      ...positive(`slots of ${each.name}`, each.slots),
      ...positive(`duration at ${each.name}`, each.meanS),
      ...share(`failures at ${each.name}`, each.failureShare),
      ...share(`unknown submits at ${each.name}`, each.unknownShare),
    ]),
    ...share('callbacks', scenario.callbackShare),
  ];
};
