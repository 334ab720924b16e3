import { mayPrecede } from '../../domain/generation/attempt-pairs';
import { refuse, type Refusal } from '../../domain/generation/refusals';
import type { Task } from '../../domain/generation/task';
import type { MessageBus } from '../../ports/message-bus';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';
import { askStepAgain, type AskedAgain } from '../reconcile/ask-step-again';
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

export type RequeueRefusal = 'NOTHING_TO_REQUEUE' | 'JOB_MAY_LIVE' | 'NEEDS_DECISION';

interface Requeued {
  readonly task: Task;
  /** The message that was asked for again; null: the generation joined the queue. */
  readonly asked: AskedAgain | null;
}

/**
 * Lets a generation go on now: one that waits for its retry joins the queue, one whose step's message was lost, died or waits for
 * its next try gets it now. Nothing is ever submitted twice by this: a new attempt needs the confirmed end of the one before.
 */
export const requeueGeneration = async (
  context: FlowContext,
  bus: Pick<MessageBus, 'deliverNow'>,
  taskId: string,
  order: OperatorOrder,
): Promise<Acted<Requeued, RequeueRefusal>> => {
  const acted = await act(context, 'generation.requeue', order, openTask(taskId), (tx, row) =>
    row.task.status === 'RETRY_WAIT' ? queue(context, tx, row, order) : askAgain(context, tx, row),
  );
  if (acted.kind === 'REFUSED') return acted;
  const { asked } = acted.result;
  // Where it stands on the bus dead or in back-off, publishing it again changes nothing.
  if (asked?.eventId != null) {
    await bus.deliverNow(asked.group, asked.eventId, context.clock.now());
  }
  return acted;
};

const queue = async (
  context: FlowContext,
  tx: Stores,
  { task, attempts }: TaskRow,
  order: OperatorOrder,
): Promise<Done<Requeued> | Refusal<RequeueRefusal>> => {
  if (attempts.some(({ status }) => !mayPrecede(status))) {
    return refuse('JOB_MAY_LIVE', 'An earlier attempt may have a living job.', 'generationId');
  }
  const applied = await applyEvent(context, tx, {
    task,
    attempt: null,
    event: { type: 'retry_due' },
    origin: { source: 'admin', payload: { actor: order.actor } },
  });
  return done({ task: applied.task, asked: null }, factsOfTask(applied.task));
};

const askAgain = async (
  context: FlowContext,
  tx: Stores,
  { task, current }: TaskRow,
): Promise<Done<Requeued> | Refusal<RequeueRefusal>> => {
  if (task.needsOperator) {
    return refuse(
      'NEEDS_DECISION',
      'It waits for a decision: outputDecide or mediaRetry.',
      'generationId',
    );
  }
  const locked = current === null ? null : await tx.attempts.lock(current.id);
  const asked = locked === null ? null : await askStepAgain(context, tx, task, locked, 'operator');
  if (asked === null) {
    return refuse(
      'NOTHING_TO_REQUEUE',
      `The generation is ${task.status}: no message carries it on.`,
      'generationId',
    );
  }
  return done(
    { task, asked },
    { ...factsOfTask(task), asked: asked.type, published: asked.eventId !== null },
  );
};
