import { setTimeout as wait } from 'node:timers/promises';

import type { CrashPoint } from '../../../src/ports/crash-points';
import { eventually } from '../../support/eventually';
import type { CrashProduct } from './crash-product';
import { findBroken, findWrong } from './judge';
import type { Plan } from './plan';
import type { Ended, Scenario } from './scenarios';

export interface Kill {
  readonly point: CrashPoint;
  readonly hit: number;
  readonly process: Plan['process'];
  /** Null when the process never came by. */
  readonly diedAfterMs: number | null;
  /** From the death until the process said that it is ready. */
  readonly restartMs: number;
  /** From the death until every use case of this kill had ended. */
  readonly recoveryMs: number;
  readonly ends: readonly Ended[];
  readonly wrong: readonly string[];
}

/** Bounds against hanging, not measures of speed: the machine may be busy. */
const HIT_LIMIT_MS = 120_000;
const RESTART_LIMIT_MS = 60_000;
/** When those under way have ended, or take this long, and the process lives, another use case is begun. */
const ANOTHER_AFTER_MS = 15_000;
const BEGUN_MAX = 12;

/** Arms the point, runs its use case until the process has died at the hit, and follows everything to its end. */
export const killAt = async (
  product: CrashProduct,
  point: CrashPoint,
  hit: number,
  plan: Plan,
): Promise<Kill> => {
  const lives = product.livesOf(plan.process);
  await product.arm(plan.process, `${point}@${hit}`);
  const pid = product.pidOf(plan.process);
  const begunMs = Date.now();
  const running = begin(product, plan.scenario);
  for (let count = 0; count < hit; count += 1) running.another();
  const isDead = (): boolean => product.pidOf(plan.process) !== pid;
  const died = await untilDead(isDead, running);
  const diedMs = Date.now();
  if (died) {
    await eventually(
      `${plan.process} is ready again`,
      () => (product.livesOf(plan.process) > lives ? true : null),
      RESTART_LIMIT_MS,
    );
  }
  const restartMs = Date.now() - diedMs;
  const { ends, wrong } = await running.ended();
  const recoveryMs = Date.now() - diedMs;
  for (const end of ends) wrong.push(...(await findWrong(product, end)));
  wrong.push(...(await findBroken(product)));
  return {
    point,
    hit,
    process: plan.process,
    diedAfterMs: died ? diedMs - begunMs : null,
    restartMs,
    recoveryMs,
    ends,
    wrong,
  };
};

const untilDead = async (
  isDead: () => boolean,
  running: ReturnType<typeof begin>,
): Promise<boolean> => {
  const limit = Date.now() + HIT_LIMIT_MS;
  let anotherAt = Date.now() + ANOTHER_AFTER_MS;
  while (!isDead()) {
    if (Date.now() > limit) return false;
    const due = running.open() === 0 || Date.now() > anotherAt;
    if (due && running.count() < BEGUN_MAX) {
      running.another();
      anotherAt = Date.now() + ANOTHER_AFTER_MS;
    }
    await wait(10);
  }
  return true;
};

const begin = (product: CrashProduct, scenario: Scenario) => {
  const under: Promise<Ended>[] = [];
  let settled = 0;
  return {
    count: (): number => under.length,
    open: (): number => under.length - settled,
    another: (): void => {
      const one = scenario(product);
      const done = (): void => void (settled += 1);
      // Whoever waits for the death sees a failure afterwards.
      one.then(done, done);
      under.push(one);
    },
    ended: async (): Promise<{ ends: Ended[]; wrong: string[] }> => {
      const all = await Promise.allSettled(under);
      return {
        ends: all.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])),
        wrong: all.flatMap((each) =>
          each.status === 'rejected' ? [String((each.reason as Error).message)] : [],
        ),
      };
    },
  };
};
