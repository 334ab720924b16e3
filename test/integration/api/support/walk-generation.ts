import type { TaskEventType } from '../../../../src/domain/generation/transitions';
import type { TaskStatus } from '../../../../src/domain/generation/statuses';
import { topics } from '../../../../src/flow/notify/announce-change';
import { toUuid } from '../../../../src/resolvers/public-id';
import type { RunningApi } from './running-api';

/** One transition, as a worker would commit it. With `ring` the notifier's message follows. */
export const walk = async (
  api: RunningApi,
  generationId: string,
  event: TaskEventType,
  to: TaskStatus,
  { ring = true }: { readonly ring?: boolean } = {},
): Promise<void> => {
  const { context, pubSub } = api;
  const id = toUuid('generation', generationId);
  const moved = await context.uow.transact(async (tx) => {
    const task = await tx.tasks.lock(id);
    if (task === null) throw new Error(`no generation ${generationId}`);
    const now = context.clock.now();
    const origin = {
      source: 'worker' as const,
      sourceEventId: null,
      attemptId: null,
      providerUpdatedAt: null,
      payload: null,
    };
    const isEnd = ['SUCCEEDED', 'CANCELED', 'FAILED_FINAL', 'EXPIRED'].includes(to);
    const patch = { scheduleAt: null, ...(isEnd ? { finishedAt: now } : {}) };
    return tx.tasks.move({
      task,
      step: { event, to },
      patch,
      eventId: context.ids.next(now),
      origin,
      messages: [],
      now,
    });
  });
  if (moved === null) throw new Error('the generation moved meanwhile');
  if (!ring) return;
  const payload = { taskId: id, version: moved.version, status: to, terminal: false };
  await pubSub.publish(topics.generation(id), payload);
  await pubSub.publish(topics.tenant(moved.tenantId), payload);
};

/** From QUEUED to RUNNING: three transitions. */
export const walkToRunning = async (
  api: RunningApi,
  id: string,
  options?: { readonly ring: boolean },
): Promise<void> => {
  await walk(api, id, 'dispatch_claimed', 'DISPATCHING', options);
  await walk(api, id, 'provider_accepted', 'SUBMITTED', options);
  await walk(api, id, 'provider_running', 'RUNNING', options);
};

/** From RUNNING to SUCCEEDED: three transitions. */
export const walkToSuccess = async (
  api: RunningApi,
  id: string,
  options?: { readonly ring: boolean },
): Promise<void> => {
  await walk(api, id, 'provider_succeeded', 'OUTPUT_FETCHING', options);
  await walk(api, id, 'output_persisted', 'POST_PROCESSING', options);
  await walk(api, id, 'playable_asset_ready', 'SUCCEEDED', options);
};
