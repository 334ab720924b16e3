/**
 * How far below what it has seen a look begins. Rows carry the instant at which their writer stamped them and show when it commits:
 * this covers what usually lies between, and clocks that differ a little.
 */
const MARGIN_MS = 2_000;
/** A look from the very beginning finds what came later than that. */
const FULL_EVERY_MS = 5_000;
const BEGINNING = new Date(0);

export interface Look {
  /** Rows that are due before this are passed over. */
  readonly from: Date;
  /** Of what this look could see, everything due until then is taken. */
  seen(until: Date): void;
}

/** Where the looks of one process at its queues begin. */
export interface LookBounds {
  begin(queue: string, now: Date): Look;
  /** From when on something may be due, as far as the looks have seen. */
  since(queue: string): Date;
  /** Something is due at `at`: the next look begins no later. */
  lower(queue: string, at: Date): void;
}

export const queues = {
  outbox: 'outbox',
  polls: 'polls',
  waiting: 'waiting',
  group: (name: string): string => `group:${name}`,
} as const;

interface Bound {
  doneUntilMs: number;
  loweredMs: number;
  loweredTimes: number;
  fullAtMs: number;
}

/**
 * A taken row leaves a dead entry at the head of its queue's index, and while any transaction of the database keeps an old snapshot
 * these cannot be cleaned away: a look that begins at the first entry reads all of them, each time. So a look begins where the last
 * one ended, less a margin. This is no cursor: every few seconds one begins at the beginning, so that nothing is ever passed over, however
 * late it commits.
 */
export const createLookBounds = (): LookBounds => {
  const bounds = new Map<string, Bound>();
  const boundOf = (queue: string): Bound => {
    const known = bounds.get(queue);
    if (known !== undefined) return known;
    const fresh = {
      doneUntilMs: -Infinity,
      loweredMs: Infinity,
      loweredTimes: 0,
      fullAtMs: -Infinity,
    };
    bounds.set(queue, fresh);
    return fresh;
  };
  return {
    begin: (queue, now) => {
      const bound = boundOf(queue);
      const nowMs = now.getTime();
      // A clock may also be set back.
      const isFull = Math.abs(nowMs - bound.fullAtMs) >= FULL_EVERY_MS;
      const { loweredMs, loweredTimes } = bound;
      return {
        from: isFull
          ? BEGINNING
          : new Date(Math.min(bound.doneUntilMs, loweredMs, nowMs) - MARGIN_MS),
        seen: (until) => {
          bound.doneUntilMs = until.getTime();
          if (isFull) bound.fullAtMs = nowMs;
          if (bound.loweredTimes === loweredTimes) bound.loweredMs = Infinity;
        },
      };
    },
    since: (queue) => {
      const { doneUntilMs, loweredMs } = boundOf(queue);
      const firstMs = Math.min(doneUntilMs, loweredMs);
      return firstMs === -Infinity ? BEGINNING : new Date(firstMs - MARGIN_MS);
    },
    lower: (queue, at) => {
      const bound = boundOf(queue);
      bound.loweredMs = Math.min(bound.loweredMs, at.getTime());
      bound.loweredTimes += 1;
    },
  };
};
