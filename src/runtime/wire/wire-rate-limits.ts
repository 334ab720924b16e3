import { createRateLimits } from '../../adapters/rate-limits/rate-limits';
import type { Log } from '../../ports/log';
import type { RateLimits, RateRule } from '../../ports/rate-limits';
import type { Config } from '../config';
import type { WiredRedis } from './wire-redis';

/** Counted together where there is a Redis, else by each API process for itself. */
export const wireRateLimits = (redis: WiredRedis | null, log: Log): RateLimits =>
  createRateLimits({
    shared:
      redis === null
        ? null
        : {
            client: redis.connection.client,
            prefix: redis.prefix,
            call: (work) => redis.connection.call(() => work()),
          },
    log,
  });

const MINUTE_MS = 60_000;

/** As the configuration has them; null for a rule that is switched off. */
export const rateRulesOf = ({ rates }: Config) => ({
  requests: ruleOf('requests', rates.requests),
  mutations: ruleOf('mutations', rates.mutations),
  strangers: ruleOf('strangers', rates.strangers),
});

const ruleOf = (name: string, pointsMax: number): RateRule | null =>
  pointsMax === 0 ? null : { name, pointsMax, windowMs: MINUTE_MS };
