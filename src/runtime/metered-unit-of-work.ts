import type { Metrics } from '../ports/metrics';
import type { UnitOfWork } from '../ports/unit-of-work';

/** Codes that say something of the system; whatever else rolls a transaction back is a use case's own affair. */
const TOLD: readonly unknown[] = ['VERSION_CONFLICT', 'DATABASE_UNAVAILABLE'];

/** Counts how transactions end. A version conflict is a transition that somebody else was quicker with. */
export const meteredUnitOfWork = (uow: UnitOfWork, metrics: Metrics): UnitOfWork => ({
  ...uow,
  transact: async (work, sharing) => {
    try {
      const result = await uow.transact(work, sharing);
      metrics.count('aivedio_transactions_total', { outcome: 'COMMITTED' });
      return result;
    } catch (error) {
      const code = (error as { readonly code?: unknown } | null)?.code;
      metrics.count('aivedio_transactions_total', {
        outcome: TOLD.includes(code) ? String(code) : 'ROLLED_BACK',
      });
      throw error;
    }
  },
});
