import { setTimeout as wait } from 'node:timers/promises';

import type { Load, LoadResult } from './bench-protocol';

const STALLED_MS = 120_000;

/** Collects the end of each task by its id, whoever hears of it; ends may come before the create has answered. */
export interface Endings {
  ended(id: string): void;
  waitFor(id: string): Promise<number>;
}

export const createEndings = (): Endings => {
  const endedAt = new Map<string, number>();
  const waiting = new Map<string, (at: number) => void>();
  return {
    ended: (id) => {
      const at = performance.now();
      const resolve = waiting.get(id);
      waiting.delete(id);
      if (resolve === undefined) endedAt.set(id, at);
      else resolve(at);
    },
    waitFor: (id) => {
      const at = endedAt.get(id);
      endedAt.delete(id);
      return at === undefined
        ? new Promise((resolve) => waiting.set(id, resolve))
        : Promise.resolve(at);
    },
  };
};

/**
 * Hands over the load: a burst with `atOnce` creates in flight, or an open loop whose arrivals wait for nobody. A task's clock
 * runs from the moment it should have arrived, so that a stalled generator shows; in a burst that is the beginning.
 */
export const driveLoad = async (
  load: Load,
  atOnce: number,
  create: () => Promise<string>,
  endings: Endings,
): Promise<LoadResult> => {
  const begun = performance.now();
  let lastEnd = begun;
  const one = async (arrival: number): Promise<number> => {
    const end = await endings.waitFor(await create());
    lastEnd = Math.max(lastEnd, end);
    return end - arrival;
  };
  const work =
    load.ratePerSecond === null
      ? burst(load.tasks, atOnce, create, endings, begun)
      : openLoop(load, begun, one);
  const latenciesMs = await withinLimit(work, load);
  return {
    latenciesMs,
    wallMs: load.ratePerSecond === null ? Math.max(...latenciesMs) : lastEnd - begun,
  };
};

const withinLimit = async <T>(work: Promise<T>, load: Load): Promise<T> => {
  const limitMs = STALLED_MS + load.tasks * 1_000;
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`Not all of ${load.tasks} tasks ended within ${limitMs} ms`)),
      limitMs,
    );
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
};

const burst = async (
  tasks: number,
  atOnce: number,
  create: () => Promise<string>,
  endings: Endings,
  begun: number,
): Promise<number[]> => {
  let left = tasks;
  const ends: Promise<number>[] = [];
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      ends.push(endings.waitFor(await create()));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return (await Promise.all(ends)).map((end) => end - begun);
};

const openLoop = async (
  load: Load,
  begun: number,
  one: (arrival: number) => Promise<number>,
): Promise<number[]> => {
  const intervalMs = 1_000 / (load.ratePerSecond ?? 1);
  const running: Promise<number>[] = [];
  for (let index = 0; index < load.tasks; index += 1) {
    const arrival = begun + index * intervalMs;
    await wait(Math.max(arrival - performance.now(), 0));
    running.push(one(arrival));
  }
  return Promise.all(running);
};
