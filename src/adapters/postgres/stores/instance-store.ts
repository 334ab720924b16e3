import type { Pool } from 'pg';

import type { InstanceStore } from '../../../ports/stores/operations-store';
import { poolDatabase } from '../database';
import { run, runForOnly } from '../run-statement';

/** The lives of worker processes. */
export const createInstanceStore = (pool: Pool): InstanceStore => {
  const db = poolDatabase(pool);
  return {
    begin: async (instance) =>
      (await runForOnly<{ ended: number }>(db, 'begin-instance', instance)).ended,
    see: async (bootId, now) =>
      (await run(db, 'see-instance-if-alive', { bootId, now })).length > 0,
    end: async (bootId, now) => {
      await run(db, 'end-instance', { bootId, now });
    },
    forget: async (before) =>
      (await runForOnly<{ forgotten: number }>(db, 'forget-instances', { before })).forgotten,
  };
};
