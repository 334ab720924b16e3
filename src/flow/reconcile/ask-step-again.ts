import type { Attempt } from '../../domain/attempt/attempt';
import type { Task } from '../../domain/generation/task';
import { assertNever } from '../../domain/kernel/assert-never';
import {
  groupsOf,
  type ConsumerGroup,
  type MessagePayload,
  type MessageType,
} from '../../ports/messages';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';

export interface AskedAgain {
  readonly type: MessageType;
  readonly group: ConsumerGroup;
  /** Of the message that was published again under its own id; null: a new one was written. */
  readonly eventId: string | null;
}

/**
 * Asks for the step on which a generation stands once more, and holds it for as long again: a message that merely waits is
 * published under its own id and so is not doubled, one that was handled or lost is written anew. An operator waits for no
 * planned time: what has not left is due at once. Null where no message
 * carries the step: the queue, the poller or a person does. Steps are safe to run twice, and none of them submits twice.
 * @param attempt the current one, locked after its task
 * @param by who asks, for the record
 */
export const askStepAgain = async (
  context: FlowContext,
  tx: Stores,
  task: Task,
  attempt: Attempt,
  by: 'reconciler' | 'operator',
): Promise<AskedAgain | null> => {
  const message = await nextMessageOf(tx, task, attempt);
  if (message === null) return null;
  const [group] = groupsOf(message.type);
  if (group === undefined) throw new Error(`Nobody reads ${message.type}`);
  const now = context.clock.now();
  const leaseUntil = new Date(now.getTime() + context.settings.stuckAfterMs);
  await tx.attempts.patch(attempt, null, { leaseUntil }, now);
  const ids = [task.id, attempt.id];
  const eventId = await tx.outbox.publishAgain(ids, message.type, group, now, {
    dueNow: by === 'operator',
  });
  if (eventId === null) await writeAgain(context, tx, task, message, by);
  return { type: message.type, group, eventId };
};

const writeAgain = async (
  context: FlowContext,
  tx: Stores,
  task: Task,
  message: Message,
  by: string,
): Promise<void> => {
  const now = context.clock.now();
  await tx.outbox.add(
    {
      type: 'generation',
      id: task.id,
      version: task.version,
      tenantId: task.tenantId,
      traceId: task.traceId,
      causationId: by,
    },
    [
      {
        eventId: context.ids.next(now),
        type: message.type,
        payload: message.payload,
        availableAt: now,
      },
    ],
    now,
  );
};

interface Message {
  readonly type: MessageType;
  readonly payload: MessagePayload<MessageType>;
}

const nextMessageOf = async (tx: Stores, task: Task, attempt: Attempt): Promise<Message | null> => {
  const taskId = task.id;
  const ids = { taskId, attemptId: attempt.id };
  switch (task.status) {
    case 'DISPATCHING':
      return attempt.status === 'NEW' ? { type: 'attempt.dispatch.requested', payload: ids } : null;
    case 'SUBMIT_UNKNOWN':
      return { type: 'attempt.reconcile.requested', payload: ids };
    case 'CANCEL_REQUESTED':
      if (attempt.status === 'NEW') return { type: 'attempt.dispatch.requested', payload: ids };
      if (attempt.jobId === null) return { type: 'attempt.reconcile.requested', payload: ids };
      // Once the provider has answered, the poller sees how the job ends.
      return attempt.cancelStatus === null || attempt.cancelStatus === 'ASKED'
        ? { type: 'attempt.cancel.requested', payload: ids }
        : null;
    case 'OUTPUT_FETCHING':
      return { type: 'output.fetch.requested', payload: ids };
    case 'POST_PROCESSING': {
      const raw = await tx.assets.findByBusinessKey(`raw:${attempt.id}:0:${task.rawGeneration}`);
      return raw === null
        ? null
        : { type: 'media.process.requested', payload: { taskId, rawAssetId: raw.id } };
    }
    case 'CREATED':
    case 'VALIDATING':
    case 'QUOTA_RESERVED':
    case 'QUEUED':
    case 'RETRY_WAIT':
    case 'SUBMITTED':
    case 'RUNNING':
    case 'SUCCEEDED':
    case 'CANCELED':
    case 'FAILED_FINAL':
    case 'EXPIRED':
      return null;
    default:
      return assertNever(task.status, 'task status');
  }
};
