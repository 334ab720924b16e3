import type { MoneyStore, SpendPeriod } from '../../../ports/stores/money-store';
import type { Database } from '../database';
import { run, runForOne, runForOnly } from '../run-statement';

interface FormerLimit {
  readonly period: SpendPeriod;
  readonly limitMicros: bigint;
}

/** Limits are changed under the account's lock, in which every hold opens and closes: what is counted is exact. */
export const createSpendLimitStore = (db: Database): Pick<MoneyStore, 'setSpendLimit'> => ({
  setSpendLimit: ({ id, tenantId, apiKeyId, limit, now }) =>
    db.atomically(async (tx) => {
      await run(tx, 'lock-spend-limits', { tenantId });
      const locked = await run(tx, 'lock-account-for-limits', { tenantId, now });
      if (locked.length === 0) return 'NO_ACCOUNT';
      const former = await runForOne<FormerLimit>(tx, 'delete-spend-limit', { tenantId, apiKeyId });
      if (limit === null) return { former };
      const { spentMicros } = await runForOnly<{ spentMicros: bigint }>(tx, 'count-spent', {
        tenantId,
        apiKeyId,
        period: limit.period,
        now,
      });
      const made = await run(tx, 'insert-spend-limit', {
        ...{ id, tenantId, apiKeyId, spentMicros, now },
        ...limit,
      });
      return made.length === 0 ? 'NO_KEY' : { former };
    }),
});
