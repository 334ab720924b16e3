import type { Pool } from 'pg';

import { MESSAGE_TYPES, type ConsumerGroup } from '../../../ports/messages';
import { poolDatabase } from '../database';
import { run } from '../run-statement';

/** Something that waits for its time; `at` null: nothing of the kind. */
export type DueRow =
  | { readonly source: 'OUTBOX' | 'POLLS' | 'QUEUE'; readonly at: Date | null }
  | { readonly source: 'GROUP'; readonly consumerGroup: ConsumerGroup; readonly at: Date | null };

/** One statement for the slow looks of all the loops of a process. */
export const createDueLook = (
  pool: Pool,
): ((groups: readonly ConsumerGroup[]) => Promise<readonly DueRow[]>) => {
  const db = poolDatabase(pool);
  return (groups) => run<DueRow>(db, 'find-what-is-due', { groups, types: MESSAGE_TYPES });
};
