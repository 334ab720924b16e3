import { setTimeout as pause } from 'node:timers/promises';

import type { Log } from '../ports/log';

/** What one round of a loop found. */
export interface Round {
  /** There may be more: go round again at once. */
  readonly busy: boolean;
  /** When something becomes due by itself; null when nothing waits. */
  readonly dueAt: Date | null;
}

export interface LoopOptions {
  readonly name: string;
  readonly round: () => Promise<Round>;
  /** Subscribes to whatever wakes the loop early; answers how to stop listening. */
  readonly listen: (wake: () => void) => Promise<() => Promise<void>>;
  /** A bell may be lost: the loop looks by itself this often. */
  readonly slowPollMs: number;
  readonly now: () => Date;
  readonly log: Log;
}

export interface RunningLoop {
  /** Lets the present round end and starts no other. */
  stop(): Promise<void>;
}

const BACKOFF_MS_FIRST = 100;
const BACKOFF_MS_MAX = 5_000;
const REST_MS_MAX = 50;

/**
 * The one way a worker waits: round after round while there is work, else until the bell, the next due instant or the slow
 * poll. After a round it rests for as long as the round took: under load the next round finds more at once, and the busier the
 * database the larger the batches. A failed round backs off and tries again for ever: a database that comes back is noticed without a restart.
 */
export const startLoop = (options: LoopOptions): RunningLoop => {
  const alarm = createAlarm();
  let stopping = false;
  let unlisten: (() => Promise<void>) | null = null;

  const run = async (): Promise<void> => {
    let failures = 0;
    while (!stopping) {
      alarm.clear();
      try {
        unlisten ??= await options.listen(alarm.wake);
        const begunMs = options.now().getTime();
        const round = await options.round();
        failures = 0;
        if (round.busy || stopping) continue;
        const tookMs = Math.min(Math.max(options.now().getTime() - begunMs, 0), REST_MS_MAX);
        await Promise.all([alarm.sleep(waitMs(options, round)), pause(tookMs)]);
      } catch (error) {
        failures += 1;
        const backoffMs = Math.min(BACKOFF_MS_FIRST * 2 ** (failures - 1), BACKOFF_MS_MAX);
        options.log.warn('a round failed', {
          loop: options.name,
          failures,
          backoffMs,
          error: String(error),
        });
        await alarm.sleep(backoffMs);
      }
    }
    await unlisten?.();
  };
  const ended = run();
  return {
    stop: async () => {
      stopping = true;
      alarm.wake();
      await ended;
    },
  };
};

const waitMs = (options: LoopOptions, round: Round): number => {
  if (round.dueAt === null) return options.slowPollMs;
  return Math.min(Math.max(round.dueAt.getTime() - options.now().getTime(), 1), options.slowPollMs);
};

/** A sleep that can be ended from outside; a wake between two sleeps is not lost. */
export const createAlarm = () => {
  let rung = false;
  let wakeUp: (() => void) | null = null;
  return {
    wake: (): void => {
      rung = true;
      wakeUp?.();
    },
    clear: (): void => {
      rung = false;
    },
    sleep: (ms: number): Promise<void> =>
      new Promise((resolve) => {
        if (rung) {
          resolve();
          return;
        }
        const timer = setTimeout(done, ms);
        function done(): void {
          clearTimeout(timer);
          wakeUp = null;
          resolve();
        }
        wakeUp = done;
      }),
  };
};
