import type { Clock } from '../../ports/clock';

/** The machine's clock, shifted by a fixed offset in milliseconds (0 in ordinary use; tests of clock skew set it). */
export const createSystemClock = (offsetMs: number): Clock => ({
  now: () => new Date(Date.now() + offsetMs),
});
