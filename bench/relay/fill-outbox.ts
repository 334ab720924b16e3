import { uuidv7 } from 'uuidv7';

import type { UnitOfWork } from '../../src/ports/unit-of-work';

const ROWS_A_TRANSACTION = 500;

/** Writes `count` messages that are due, as use cases write them; one generation each. */
export const fillOutbox = async (uow: UnitOfWork, count: number): Promise<void> => {
  for (let left = count; left > 0; left -= ROWS_A_TRANSACTION) {
    await uow.transact(async (tx) => {
      const rows = Array.from({ length: Math.min(left, ROWS_A_TRANSACTION) }, () => uuidv7());
      await Promise.all(rows.map((taskId) => tx.outbox.add(...queued(taskId, 1, uuidv7()))));
    });
  }
};

type Added = Parameters<Parameters<Parameters<UnitOfWork['transact']>[0]>[0]['outbox']['add']>;

/** One message that the scheduler reads. */
export const queued = (taskId: string, version: number, eventId: string): Added => {
  const now = new Date();
  return [
    {
      ...{ type: 'generation', id: taskId, version, tenantId: null },
      ...{ traceId: taskId, causationId: null },
    },
    [{ eventId, type: 'generation.queued', payload: { taskId }, availableAt: now }],
    now,
  ];
};
