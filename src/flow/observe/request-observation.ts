import type { Task } from '../../domain/generation/task';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';

/** Asks the reducer to judge a stored provider event (again). A new message: the reducer's dedup row is per message. */
export const requestObservation = async (
  context: FlowContext,
  tx: Stores,
  providerEventId: string,
  task: Pick<Task, 'tenantId' | 'traceId'> | null,
): Promise<void> => {
  const now = context.clock.now();
  await tx.outbox.add(
    {
      type: 'provider_event',
      id: providerEventId,
      version: 1,
      tenantId: task?.tenantId ?? null,
      traceId: task?.traceId ?? providerEventId,
      causationId: providerEventId,
    },
    [
      {
        eventId: context.ids.next(now),
        type: 'provider.status.observed',
        payload: { providerEventId },
        availableAt: now,
      },
    ],
    now,
  );
};
