/**
 * Time as the product sees it. Product code never calls `Date.now()` or SQL `now()`:
 * every decision and every statement receives the time from here, so that tests and
 * chaos runs can set it.
 */
export interface Clock {
  /** The present instant, UTC. */
  now(): Date;
}
