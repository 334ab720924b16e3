import type { Pool } from 'pg';

import { createPostgresSlots } from '../../../src/adapters/postgres/slots/postgres-slots';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { openRebuildablePool } from '../open-rebuildable-pool';
import { describeSlots } from './describe-slots';

let database: TestDatabase;
let pools: Pool[];

beforeAll(async () => {
  database = await createTestDatabase();
  pools = [openRebuildablePool(database.url), openRebuildablePool(database.url)];
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await database.drop();
});

describeSlots('postgres', () => ({
  slots: createPostgresSlots({ pool: pools[0]! }),
  open: () => Promise.resolve(createPostgresSlots({ pool: pools[1]! })),
  flush: async () => {
    await database.pool.query('TRUNCATE slot_scopes, slot_leases');
  },
}));
