import { refuse } from '../../domain/generation/refusals';
import { isTerminal } from '../../domain/generation/statuses';
import type { Task } from '../../domain/generation/task';
import type { Slots } from '../../ports/slots';
import { requestCancel } from '../create/cancel-generation';
import type { FlowContext } from '../flow-context';
import { freeSlotAfterCommit } from '../schedule/free-slot';
import {
  act,
  done,
  factsOfTask,
  openTask,
  type Acted,
  type OperatorOrder,
} from './operator-action';

export type StopRefusal = 'ALREADY_FINISHED' | 'ALREADY_REQUESTED';

/** Cancels a generation of any tenant, by the same law as its own tenant would: an intent until the provider confirms. */
export const stopGeneration = async (
  context: FlowContext,
  slots: Slots,
  taskId: string,
  order: OperatorOrder,
): Promise<Acted<Task, StopRefusal>> => {
  const acted = await act(
    context,
    'generation.stop',
    order,
    openTask(taskId),
    async (tx, { task, attempts }) => {
      if (isTerminal(task.status)) {
        return refuse('ALREADY_FINISHED', `The generation is ${task.status}.`, 'generationId');
      }
      if (task.cancelRequestedAt !== null) {
        return refuse('ALREADY_REQUESTED', 'It has been asked to stop before.', 'generationId');
      }
      const applied = await requestCancel(context, tx, task, attempts, {
        reason: 'OPERATOR',
        origin: { source: 'admin', payload: { actor: order.actor } },
      });
      const { cancelReason, cancelOutcome } = applied.task;
      return done(applied, { ...factsOfTask(applied.task), cancelReason, cancelOutcome });
    },
  );
  if (acted.kind === 'REFUSED') return acted;
  await freeSlotAfterCommit(context, slots, acted.result);
  return { kind: 'DONE', result: acted.result.task };
};
