import {
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
  type RateLimiterAbstract,
} from 'rate-limiter-flexible';

import type { Log } from '../../ports/log';
import type { RateLimits, RateRule, RateVerdict } from '../../ports/rate-limits';

/** A count that several processes share. */
export interface SharedCount {
  /** An ioredis client. */
  readonly client: unknown;
  readonly prefix: string;
  /** Runs one piece of work within a time limit; rejects when the store is out of reach. */
  call<T>(work: () => Promise<T>): Promise<T>;
}

interface Limiters {
  readonly shared: RateLimiterAbstract | null;
  readonly own: RateLimiterAbstract;
}

/** Counts in Redis where there is one, with a count of the process' own as insurance; else in memory alone. */
export const createRateLimits = (options: {
  readonly shared: SharedCount | null;
  readonly log: Log;
}): RateLimits => {
  const { shared, log } = options;
  const limiters = new Map<string, Limiters>();
  let alone = false;

  const limitersOf = (rule: RateRule): Limiters => {
    const known = limiters.get(rule.name);
    if (known !== undefined) return known;
    const limit = { points: rule.pointsMax, duration: rule.windowMs / 1_000 };
    const made = {
      shared:
        shared === null
          ? null
          : new RateLimiterRedis({
              ...limit,
              storeClient: shared.client,
              keyPrefix: `${shared.prefix}:rate:${rule.name}`,
            }),
      own: new RateLimiterMemory({ ...limit, keyPrefix: rule.name }),
    };
    limiters.set(rule.name, made);
    return made;
  };

  const takeShared = async (
    limiter: RateLimiterAbstract,
    subject: string,
    points: number,
  ): Promise<Taken | null> => {
    if (shared === null) return null;
    try {
      const taken = await shared.call(() => consume(limiter, subject, points));
      if (alone) log.info('requests are counted together again');
      alone = false;
      return taken;
    } catch (error) {
      if (!alone) {
        log.warn('requests are counted by each process for itself', { error: String(error) });
      }
      alone = true;
      return null;
    }
  };

  return {
    take: async (rule, subject, points) => {
      const { shared: together, own } = limitersOf(rule);
      const taken =
        (together === null ? null : await takeShared(together, subject, points)) ??
        (await consume(own, subject, points));
      return toVerdict(rule, taken);
    },
  };
};

interface Taken {
  readonly allowed: boolean;
  readonly count: RateLimiterRes;
}

/** The library rejects with the count where a limit is passed, and with an Error where it could not count. */
const consume = async (
  limiter: RateLimiterAbstract,
  subject: string,
  points: number,
): Promise<Taken> => {
  try {
    return { allowed: true, count: await limiter.consume(subject, points) };
  } catch (error) {
    if (error instanceof RateLimiterRes) return { allowed: false, count: error };
    throw error;
  }
};

const toVerdict = (rule: RateRule, { allowed, count }: Taken): RateVerdict => ({
  rule,
  allowed,
  remaining: Math.max(0, count.remainingPoints),
  resetMs: Math.max(0, count.msBeforeNext),
});
