import { nextStepOf, type NextStep } from '../../domain/generation/next-actor';
import type { Task } from '../../domain/generation/task';
import type { PlannedMessage, ReadModel, TimelineEntry } from '../../ports/read-model';
import type { Slots } from '../../ports/slots';
import type { FlowContext } from '../flow-context';
import { explainWait } from './explain-wait';
import { forTenant } from './for-tenant';
import type { Wait } from './wait-words';

export interface Explanation {
  readonly task: Task;
  readonly entries: readonly TimelineEntry[];
  /** Older entries were left out. */
  readonly isCut: boolean;
  readonly next: NextStep;
  readonly wait: Wait | null;
}

/** Entries told at once; a generation has a few dozen. */
export const TIMELINE_MAX = 1_000;

/**
 * All that is known of one generation in one order, and what happens next. A fixed number of statements, whatever the
 * generation went through. An operator sees any; a tenant its own, without the names of operators.
 */
export const explainGeneration = async (
  context: FlowContext,
  deps: { readonly reads: ReadModel; readonly slots: Slots },
  viewer: { readonly tenantId: string; readonly isOperator: boolean },
  taskId: string,
): Promise<Explanation | null> => {
  const task = await readTask(context, deps.reads, viewer, taskId);
  if (task === null) return null;
  const { reads, slots } = deps;
  const [timeline, attempts, wait] = await Promise.all([
    reads.readTimeline(task.tenantId, task.id, TIMELINE_MAX + 1),
    reads.listAttempts(task.tenantId, [task.id]),
    explainWait(context, slots, task),
  ]);
  const planned = await reads.listPlannedMessages(task.tenantId, [
    task.id,
    ...attempts.map(({ id }) => id),
  ]);
  const entries = timeline.slice(-TIMELINE_MAX);
  return {
    task,
    entries: viewer.isOperator ? entries : entries.map(forTenant),
    isCut: timeline.length > TIMELINE_MAX,
    next: nextStepOf(
      task,
      attempts.find(({ attemptNo }) => attemptNo === task.currentAttemptNo) ?? null,
      timesOf(planned),
    ),
    wait,
  };
};

const readTask = async (
  context: FlowContext,
  reads: ReadModel,
  viewer: { readonly tenantId: string; readonly isOperator: boolean },
  taskId: string,
): Promise<Task | null> =>
  viewer.isOperator
    ? context.uow.stores.tasks.read(taskId)
    : ((await reads.readTasks(viewer.tenantId, [taskId]))[0] ?? null);

/** The earliest of each type. */
const timesOf = (planned: readonly PlannedMessage[]): Record<string, Date | undefined> => {
  const times: Record<string, Date | undefined> = {};
  for (const { type, availableAt } of planned) times[type] ??= availableAt;
  return times;
};
