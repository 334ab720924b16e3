import type { Attempt } from '../../domain/attempt/attempt';
import type { CancelReason } from '../../domain/generation/statuses';
import { isTerminal } from '../../domain/generation/statuses';
import type { Task } from '../../domain/generation/task';
import { crashpoint } from '../../ports/crash-points';
import type { Slots } from '../../ports/slots';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';
import { freeSlotAfterCommit } from '../schedule/free-slot';
import { applyEvent, type Applied } from '../transition/apply-event';
import type { EventInput } from '../transition/event-input';

export type CancelOutcome =
  /** `stopped`: nothing runs any more. Otherwise the task's status and `cancelOutcome` say what goes on. */
  | {
      readonly kind: 'ACCEPTED';
      readonly task: Task;
      readonly stopped: boolean;
      readonly repeated: boolean;
    }
  | { readonly kind: 'ALREADY_FINISHED'; readonly task: Task }
  | { readonly kind: 'NOT_FOUND' };

const isInDoubt = ({ status }: Attempt): boolean => status === 'UNKNOWN' || status === 'ABANDONED';

/**
 * Asks a generation to stop. An intent until the provider confirms: what is already at the provider may still finish
 * and may still be charged, and completion wins over cancel. Repeating it answers the same.
 */
export const cancelGeneration = async (
  context: FlowContext,
  slots: Slots,
  input: {
    readonly tenantId: string;
    readonly taskId: string;
    readonly reason: CancelReason;
    readonly actor: string;
  },
): Promise<CancelOutcome> => {
  const result = await context.uow.transact(async (tx) => {
    const task = await tx.tasks.lock(input.taskId);
    if (task === null || task.tenantId !== input.tenantId) return null;
    if (isTerminal(task.status)) return { task, applied: null };
    const applied = await requestCancel(context, tx, task, await tx.attempts.listOfTask(task.id), {
      reason: input.reason,
      origin: { source: 'api', payload: { actor: input.actor } },
    });
    crashpoint('cancel.before_commit');
    return { task: applied.task, applied };
  });
  if (result === null) return { kind: 'NOT_FOUND' };
  if (result.applied === null) return { kind: 'ALREADY_FINISHED', task: result.task };
  crashpoint('cancel.after_commit_before_answer');
  await freeSlotAfterCommit(context, slots, result.applied);
  return {
    kind: 'ACCEPTED',
    task: result.task,
    stopped: result.task.status === 'CANCELED',
    repeated: !result.applied.moved,
  };
};

/** The cancel itself, on a living generation under its lock, whoever asks for it. */
export const requestCancel = (
  context: FlowContext,
  tx: Stores,
  task: Task,
  attempts: readonly Attempt[],
  asked: { readonly reason: CancelReason; readonly origin: EventInput['origin'] },
): Promise<Applied> => {
  const current = attempts.find((each) => each.attemptNo === task.currentAttemptNo) ?? null;
  // Between two attempts an earlier one in doubt is what may still cost; else the cancel is for the current one.
  const waits = task.status === 'QUEUED' || task.status === 'RETRY_WAIT';
  const unknown = waits ? attempts.find(isInDoubt) : undefined;
  return applyEvent(context, tx, {
    task,
    attempt: unknown ?? current,
    event: { type: 'cancel_requested', reason: asked.reason },
    origin: asked.origin,
    earlierAttemptUnknown: unknown !== undefined,
  });
};
