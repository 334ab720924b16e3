import type { Pool } from 'pg';

import { createPool } from '../../src/adapters/postgres/pool';

/** A pool as the product opens it for what can be rebuilt: bus, outbox mover, slots. */
export const openRebuildablePool = (connectionString: string, applicationName = 'bus'): Pool =>
  createPool({
    connectionString,
    applicationName,
    max: 8,
    synchronousCommit: 'off',
    preferIndexes: true,
    connectionTimeoutMs: 5_000,
    statementTimeoutMs: 10_000,
    idleInTransactionTimeoutMs: 10_000,
  });
