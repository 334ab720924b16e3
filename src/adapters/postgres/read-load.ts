import type { Pool } from 'pg';

import type { MeasuredLoad } from '../../ports/load-reads';
import { poolDatabase } from './database';
import { runForOnly } from './run-statement';

const TENANTS_MAX = 50;

/** One look at what was asked of the platform since a time. */
export const readLoad = (pool: Pool, since: Date, now: Date): Promise<MeasuredLoad> =>
  runForOnly<MeasuredLoad>(poolDatabase(pool), 'measure-load', {
    since,
    now,
    tenantsMax: TENANTS_MAX,
  });
