import { isAdmitted, TIERS, type Tier } from '../../domain/scheduling/admission-gate';
import type { Clock } from '../../ports/clock';
import type { Health } from '../../ports/health';

export interface AdmissionGate {
  /** Null: come in. Else how long to stay away, in milliseconds. */
  judge(tier: Tier): Promise<{ readonly retryAfterMs: number } | null>;
  /** The same as a state of this process, for `/readyz`. */
  health(): Promise<Health>;
}

const LOOK_AGE_MS = 1_000;
const RETRY_AFTER_MS = 10_000;

/**
 * Looks at the age of the outbox, at most once a second whoever asks, and lets generations in accordingly. It opens by itself when
 * messages leave again. A database that cannot be asked rejects: then nothing is accepted anyway.
 */
export const watchAdmission = (options: {
  readonly outboxAgeMs: (now: Date) => Promise<number>;
  readonly clock: Clock;
  readonly refuseMs: number;
}): AdmissionGate => {
  const { clock, refuseMs } = options;
  let last: { readonly at: number; readonly ageMs: Promise<number> } | null = null;

  const ageMs = (): Promise<number> => {
    const now = clock.now();
    if (last !== null && now.getTime() - last.at < LOOK_AGE_MS) return last.ageMs;
    const looked = options.outboxAgeMs(now);
    const mine = { at: now.getTime(), ageMs: looked };
    last = mine;
    // A failed look is not remembered.
    looked.catch(() => {
      if (last === mine) last = null;
    });
    return looked;
  };
  return {
    judge: async (tier) =>
      isAdmitted(tier, await ageMs(), refuseMs) ? null : { retryAfterMs: RETRY_AFTER_MS },
    health: async () => {
      const age = await ageMs();
      const refused = TIERS.filter((tier) => !isAdmitted(tier, age, refuseMs));
      return refused.length === 0
        ? { ok: true, detail: 'new generations are accepted' }
        : {
            ok: false,
            detail: `outbox older than its threshold (${Math.round(age / 1_000)} s): new generations of ${refused.join(', ')} are refused`,
          };
    },
  };
};
