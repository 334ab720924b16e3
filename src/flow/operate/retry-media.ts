import { refuse, type Refusal } from '../../domain/generation/refusals';
import type { Task } from '../../domain/generation/task';
import type { Asset } from '../../domain/output/asset';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';
import { applyEvent } from '../transition/apply-event';
import {
  act,
  done,
  factsOfTask,
  openTask,
  type Acted,
  type Done,
  type OperatorOrder,
  type TaskRow,
} from './operator-action';

export type MediaRefusal = 'NOTHING_TO_RETRY' | 'OUTPUT_GONE';

/**
 * Makes media again with a fresh budget: the whole step where it was given up, or what is still missing beside the proxy of a
 * generation that has succeeded. Keys are the same as before, and the job is never run again.
 */
export const retryMedia = (
  context: FlowContext,
  taskId: string,
  order: OperatorOrder,
): Promise<Acted<Task, MediaRefusal>> =>
  act(context, 'media.retry', order, openTask(taskId), async (tx, row) => {
    const { task } = row;
    if (task.status === 'SUCCEEDED') return retryMissing(context, tx, row, order);
    if (task.status === 'POST_PROCESSING' && task.needsOperator) {
      return retryStep(context, tx, row, order);
    }
    return refuse(
      'NOTHING_TO_RETRY',
      `The generation is ${task.status}: no media of it waits for a person.`,
      'generationId',
    );
  });

const retryStep = async (
  context: FlowContext,
  tx: Stores,
  row: TaskRow,
  order: OperatorOrder,
): Promise<Done<Task> | Refusal<MediaRefusal>> => {
  const raw = await rawOf(tx, row);
  if (raw === null) return refuse('OUTPUT_GONE', 'The raw output is not there.', 'generationId');
  const now = context.clock.now();
  const { task, current } = row;
  const applied = await applyEvent(context, tx, {
    task,
    attempt: current,
    event: { type: 'step_retryable' },
    origin: { source: 'admin', payload: { actor: order.actor } },
    taskPatch: { mediaTries: 0, stepStartedAt: now },
    retryAt: now,
    rawAssetId: raw.id,
  });
  await resolve(context, tx, order, [task.id, current?.id ?? task.id, raw.id]);
  return done(applied.task, factsOfTask(applied.task));
};

/** Failed tries are counted on the raw asset: without one nothing is missing that could be made. */
const retryMissing = async (
  context: FlowContext,
  tx: Stores,
  row: TaskRow,
  order: OperatorOrder,
): Promise<Done<Task> | Refusal<MediaRefusal>> => {
  const { task } = row;
  const raw = await rawOf(tx, row);
  const triesDone = Number(raw?.facts?.['derivativeTries'] ?? 0);
  if (raw === null || triesDone === 0) {
    return refuse('NOTHING_TO_RETRY', 'Nothing is missing beside the proxy.', 'generationId');
  }
  if (raw.status !== 'READY' && raw.status !== 'IN_REVIEW') {
    return refuse('OUTPUT_GONE', `The output is ${raw.status}.`, 'generationId');
  }
  const now = context.clock.now();
  const facts = { ...raw.facts, derivativeTries: 0, derivativesSince: now.toISOString() };
  await tx.assets.patch(raw, raw.status, { facts }, now);
  await tx.outbox.add(
    {
      type: 'generation',
      id: task.id,
      version: task.version,
      tenantId: task.tenantId,
      traceId: task.traceId,
      causationId: 'operator',
    },
    [
      {
        eventId: context.ids.next(now),
        type: 'media.process.requested',
        payload: { taskId: task.id, rawAssetId: raw.id },
        availableAt: now,
      },
    ],
    now,
  );
  await resolve(context, tx, order, [raw.id]);
  return done(task, { ...factsOfTask(task), rawAssetId: raw.id, derivativeTries: 0 });
};

const rawOf = async (tx: Stores, { task, current }: TaskRow): Promise<Asset | null> => {
  if (current === null) return null;
  const raw = await tx.assets.findByBusinessKey(`raw:${current.id}:0:${task.rawGeneration}`);
  return raw === null ? null : tx.assets.lock(raw.id);
};

const resolve = async (
  context: FlowContext,
  tx: Stores,
  { actor, reason }: OperatorOrder,
  subjectIds: readonly string[],
): Promise<void> => {
  const now = context.clock.now();
  await tx.findings.resolveOf('MEDIA_BUDGET_EXHAUSTED', subjectIds, actor, reason, now);
};
