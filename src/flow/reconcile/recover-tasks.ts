import type { Attempt } from '../../domain/attempt/attempt';
import type { TaskEvent } from '../../domain/generation/decision';
import type { Task } from '../../domain/generation/task';
import { assertNever } from '../../domain/kernel/assert-never';
import { crashpoint } from '../../ports/crash-points';
import { groupsOf, type MessagePayload, type MessageType } from '../../ports/messages';
import type { Slots } from '../../ports/slots';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';
import { freeSlotAfterCommit } from '../schedule/free-slot';
import { applyEvent } from '../transition/apply-event';

const BATCH = 100;

/** Deadlines that have passed: waiting tasks expire; a living job is asked to stop. Answers how many moved. */
export const expireOverdue = async (context: FlowContext, slots: Slots): Promise<number> => {
  const ids = await context.uow.stores.tasks.listOverdue(context.clock.now(), BATCH);
  let moved = 0;
  for (const taskId of ids) {
    const applied = await onTask(context, taskId, (task, attempt, tx) =>
      isOverdue(context, task)
        ? apply(context, tx, task, attempt, { type: 'deadline_passed' })
        : null,
    );
    if (applied === null) continue;
    await freeSlotAfterCommit(context, slots, applied);
    if (applied.moved) moved += 1;
  }
  return moved;
};

const isOverdue = (context: FlowContext, task: Task): boolean => {
  const limit = task.status === 'CANCEL_REQUESTED' ? task.recoveryDeadlineAt : task.deadlineAt;
  return limit !== null && limit <= context.clock.now();
};

/**
 * Attempts whose worker is gone. NEW was never sent: it is asked for again. SENDING may have been: it is unknown, and only
 * the provider can say more.
 */
export const recoverLostLeases = async (context: FlowContext, slots: Slots): Promise<number> => {
  const now = context.clock.now();
  const unleasedBefore = new Date(now.getTime() - context.settings.stuckAfterMs);
  const lost = await context.uow.stores.attempts.listLeaseLost(now, unleasedBefore, BATCH);
  let moved = 0;
  for (const seen of lost) {
    const applied = await context.uow.transact(async (tx) => {
      const task = await tx.tasks.lock(seen.taskId);
      const attempt = await tx.attempts.lock(seen.id);
      const same =
        attempt !== null && attempt.status === seen.status && attempt.version === seen.version;
      crashpoint('reconcile.after_lease_judged_before_db');
      return task === null || !same
        ? null
        : apply(context, tx, task, attempt, { type: 'lease_lost' });
    });
    if (applied === null) continue;
    await freeSlotAfterCommit(context, slots, applied);
    if (applied.moved) moved += 1;
  }
  return moved;
};

/**
 * Live tasks that nobody has touched for a while and whose next step nobody holds: the message of that step is written
 * again, and held for as long again. A message that merely waits behind others is not doubled: it is published under its own
 * id.
 */
export const rescueStuck = async (context: FlowContext): Promise<number> => {
  const now = context.clock.now();
  const before = new Date(now.getTime() - context.settings.stuckAfterMs);
  const ids = await context.uow.stores.tasks.listStuck(before, now, BATCH);
  let asked = 0;
  for (const taskId of ids) {
    const again = await onTask(context, taskId, async (task, attempt, tx) => {
      if (attempt === null || task.updatedAt >= before) return null;
      const locked = await tx.attempts.lock(attempt.id);
      if (locked === null || (locked.leaseUntil !== null && locked.leaseUntil > now)) return null;
      const message = await nextMessageOf(tx, task, locked);
      if (message === null) return null;
      const leaseUntil = new Date(now.getTime() + context.settings.stuckAfterMs);
      await tx.attempts.patch(locked, null, { leaseUntil }, now);
      const [group] = groupsOf(message.type);
      const waits =
        group !== undefined &&
        (await tx.outbox.publishAgain([task.id, attempt.id], message.type, group, now));
      if (!waits) await writeAgain(context, tx, task, message, now);
      await tx.findings.record({
        id: context.ids.next(now),
        kind: 'STUCK_TASK',
        subjectKind: 'task',
        subjectId: task.id,
        tenantId: task.tenantId,
        detail: { status: task.status, version: task.version, since: task.updatedAt.toISOString() },
        actionTaken: `${waits ? 'published' : 'asked'} again: ${message.type}`,
        now,
      });
      return message;
    });
    if (again !== null) asked += 1;
  }
  return asked;
};

const writeAgain = async (
  context: FlowContext,
  tx: Stores,
  task: Task,
  message: Message,
  now: Date,
): Promise<void> => {
  await tx.outbox.add(
    {
      type: 'generation',
      id: task.id,
      version: task.version,
      tenantId: task.tenantId,
      traceId: task.traceId,
      causationId: 'reconciler',
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

/** Outputs that could not be made playable and that no person has helped within the window: the task ends. */
export const endMediaWindows = async (context: FlowContext): Promise<number> => {
  const before = new Date(context.clock.now().getTime() - context.settings.mediaReviewWindowMs);
  const ids = await context.uow.stores.tasks.listMediaGivenUp(before, BATCH);
  let ended = 0;
  for (const taskId of ids) {
    const applied = await onTask(context, taskId, (task, attempt, tx) =>
      task.status === 'POST_PROCESSING' && task.needsOperator && task.updatedAt < before
        ? apply(context, tx, task, attempt, { type: 'media_window_over' })
        : null,
    );
    if (applied?.moved === true) ended += 1;
  }
  return ended;
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

const onTask = async <T>(
  context: FlowContext,
  taskId: string,
  work: (task: Task, attempt: Attempt | null, tx: Stores) => Promise<T> | T,
): Promise<T | null> =>
  context.uow.transact(async (tx) => {
    const task = await tx.tasks.lock(taskId);
    if (task === null) return null;
    const attempts = await tx.attempts.listOfTask(taskId);
    return work(
      task,
      attempts.find((each) => each.attemptNo === task.currentAttemptNo) ?? null,
      tx,
    );
  });

const apply = (
  context: FlowContext,
  tx: Stores,
  task: Task,
  attempt: Attempt | null,
  event: TaskEvent,
) =>
  applyEvent(context, tx, {
    task,
    attempt,
    event,
    origin: { source: 'reconciler' },
    error: event.type === 'deadline_passed' ? { class: 'DEADLINE', code: 'DEADLINE_PASSED' } : null,
  });
