import type { Pool } from 'pg';

import { MESSAGE_TYPES, type ConsumerGroup } from '../../../ports/messages';
import { poolDatabase } from '../database';
import { run } from '../run-statement';
import { createLookBounds, queues, type LookBounds } from './look-bounds';

/** Something that waits for its time; `at` null: nothing of the kind. */
export type DueRow =
  | { readonly source: 'OUTBOX' | 'POLLS' | 'QUEUE'; readonly at: Date | null }
  | { readonly source: 'GROUP'; readonly consumerGroup: ConsumerGroup; readonly at: Date | null };

/** What the loops of a process take: nothing else is looked at. */
export interface Taken {
  readonly outbox: boolean;
  readonly polls: boolean;
  readonly waiting: boolean;
  readonly groups: readonly ConsumerGroup[];
}

/** From there on nothing is due. */
const NEVER = 'infinity';

/** One statement for the slow looks of all the loops of a process. */
export const createDueLook = (
  pool: Pool,
  looks: LookBounds = createLookBounds(),
): ((taken: Taken, now: Date) => Promise<readonly DueRow[]>) => {
  const db = poolDatabase(pool);
  return async ({ groups, ...taken }, now) => {
    const polls = looks.begin(queues.polls, now);
    const waiting = looks.begin(queues.waiting, now);
    const rows = await run<DueRow>(db, 'find-what-is-due', {
      outboxFrom: taken.outbox ? looks.begin(queues.outbox, now).from : NEVER,
      groups,
      groupFroms: groups.map((group) => looks.begin(queues.group(group), now).from),
      pollsFrom: taken.polls ? polls.from : NEVER,
      waitingFrom: taken.waiting ? waiting.from : NEVER,
      types: MESSAGE_TYPES,
    });
    for (const row of rows) {
      // Messages are for their takers to tick off; of polls and waiting generations, what is before the first is over.
      if (row.source === 'POLLS') polls.seen(row.at ?? now);
      else if (row.source === 'QUEUE') waiting.seen(row.at ?? now);
      else if (row.at !== null) looks.lower(queueOf(row), row.at);
    }
    return rows;
  };
};

const queueOf = (row: DueRow): string =>
  row.source === 'GROUP' ? queues.group(row.consumerGroup) : queues.outbox;
