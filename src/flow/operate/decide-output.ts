import type { TaskPatch } from '../../domain/generation/evolve';
import { refuse, type Refusal } from '../../domain/generation/refusals';
import type { Task } from '../../domain/generation/task';
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

export type OutputVerdict = 'FETCH_NEXT' | 'GIVE_UP';
export type OutputRefusal = 'NOT_WAITING_FOR_OPERATOR';

/**
 * A person decides an output whose bytes differ from those that stand at its key. Nothing is overwritten: the next raw
 * generation has a key of its own, and the old bytes stay until the sweep of orphans takes them. The job is never run again.
 */
export const decideOutput = (
  context: FlowContext,
  taskId: string,
  decision: OperatorOrder & { readonly verdict: OutputVerdict },
): Promise<Acted<Task, OutputRefusal>> =>
  act(
    context,
    `output.${decision.verdict.toLowerCase()}`,
    decision,
    openTask(taskId),
    async (tx, row): Promise<Done<Task> | Refusal<OutputRefusal>> => {
      const { task, current } = row;
      if (task.status !== 'OUTPUT_FETCHING' || !task.needsOperator || current === null) {
        return refuse(
          'NOT_WAITING_FOR_OPERATOR',
          'No output of this generation waits for a decision.',
          'generationId',
        );
      }
      const moved =
        decision.verdict === 'GIVE_UP'
          ? await giveUp(context, tx, row, decision)
          : await fetchNext(context, tx, row, decision);
      const now = context.clock.now();
      const { actor, reason } = decision;
      const subjects = [task.id, current.id];
      await tx.findings.resolveOf('OBJECT_CONFLICT', subjects, actor, reason, now);
      return done(moved, { ...factsOfTask(moved), rawGeneration: moved.rawGeneration });
    },
  );

/** A key of its own, and a fresh budget: the person knows more than the tries before. */
const fetchNext = async (
  context: FlowContext,
  tx: Stores,
  { task, current }: TaskRow,
  { actor }: OperatorOrder,
): Promise<Task> => {
  const now = context.clock.now();
  const taskPatch: TaskPatch = {
    rawGeneration: task.rawGeneration + 1,
    fetchTries: 0,
    stepStartedAt: now,
    nextRetryAt: now,
  };
  const applied = await applyEvent(context, tx, {
    task,
    attempt: current,
    event: { type: 'step_retryable' },
    origin: { source: 'admin', payload: { actor } },
    retryAt: now,
    taskPatch,
  });
  return applied.task;
};

const giveUp = async (
  context: FlowContext,
  tx: Stores,
  { task, current }: TaskRow,
  { actor }: OperatorOrder,
): Promise<Task> => {
  const applied = await applyEvent(context, tx, {
    task,
    attempt: current,
    event: { type: 'output_unrecoverable' },
    origin: { source: 'admin', payload: { actor } },
    error: { class: 'OUTPUT_FETCH', code: 'OUTPUT_GIVEN_UP' },
  });
  return applied.task;
};
