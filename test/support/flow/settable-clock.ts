import type { Clock } from '../../../src/ports/clock';

/** Time that stands still until a test moves it. */
export interface SettableClock extends Clock {
  /** Milliseconds, forward. */
  advance(ms: number): void;
}

/** Starts at the real present, since the sandbox provider lives by the real clock. */
export const createSettableClock = (start: Date = new Date()): SettableClock => {
  let nowMs = start.getTime();
  return {
    now: () => new Date(nowMs),
    advance: (ms) => {
      if (ms < 0) throw new RangeError('time does not run backwards');
      nowMs += ms;
    },
  };
};
