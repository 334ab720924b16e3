/** How much one subject may do in a window of time. */
export interface RateRule {
  /** Stands in headers and keys: lower-case letters. */
  readonly name: string;
  readonly pointsMax: number;
  readonly windowMs: number;
}

export interface RateVerdict {
  readonly rule: RateRule;
  /** False: nothing may be done; what was asked is counted all the same, so asking on does not help. */
  readonly allowed: boolean;
  readonly remaining: number;
  /** Until the window is over and all points are back. */
  readonly resetMs: number;
}

/**
 * Protection against too much, not a fact: counts in windows that begin with the first request of a subject.
 *
 * Contract, checked by test/contract/rate-limits:
 * - `take` counts `points` for a subject under a rule, and allows them while the sum of the window is at most `pointsMax`; under
 *   concurrency never more are allowed. Subjects and rules do not touch each other.
 * - Processes that share a store share the count. When it is out of reach each process counts for itself, with the same
 *   limit, and says so in the log once: a limiter never refuses because it is ill.
 * - Counts vanish with their window. Time is the store's own, or the process' own: no clock of the product.
 */
export interface RateLimits {
  take(rule: RateRule, subject: string, points: number): Promise<RateVerdict>;
}
