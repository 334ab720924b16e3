import type { Pool } from 'pg';

import type { PartitionStore } from '../../../ports/stores/operations-store';
import { poolDatabase } from '../database';
import { runForOnly } from '../run-statement';

/** Daily partitions of history, outbox and inbox. */
export const createPartitionStore = (pool: Pool): PartitionStore => {
  const db = poolDatabase(pool);
  return {
    ensureDays: async (now, days) =>
      (await runForOnly<{ made: number }>(db, 'ensure-day-partitions', { now, days })).made,
    dropBefore: async (before) =>
      (await runForOnly<{ dropped: number }>(db, 'drop-day-partitions', { before })).dropped,
  };
};
