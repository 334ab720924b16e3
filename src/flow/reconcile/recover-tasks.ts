import type { Attempt } from '../../domain/attempt/attempt';
import type { TaskEvent } from '../../domain/generation/decision';
import type { Task } from '../../domain/generation/task';
import { crashpoint } from '../../ports/crash-points';
import type { Slots } from '../../ports/slots';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';
import { freeSlotAfterCommit } from '../schedule/free-slot';
import { applyEvent, type Applied } from '../transition/apply-event';
import { askStepAgain } from './ask-step-again';

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
    crashpoint('reconcile.after_deadline_before_next');
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
 * Attempts whose worker is gone, or that no worker took. NEW was never sent: it is asked for again. SENDING may have been: it
 * is unknown, and only the provider can say more.
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
      if (task === null || !same) return null;
      return attempt.status === 'NEW'
        ? claimAgain(context, tx, task, attempt)
        : apply(context, tx, task, attempt, { type: 'lease_lost' });
    });
    if (applied === null) continue;
    if (applied !== 'ASKED') await freeSlotAfterCommit(context, slots, applied);
    if (applied === 'ASKED' || applied.moved) moved += 1;
  }
  return moved;
};

/**
 * Held for as long again, or every look would ask anew. A message that waits, on a bus that is down or behind others, is the
 * same one and no second: an outage of an hour must not end in a flood.
 */
const claimAgain = async (
  context: FlowContext,
  tx: Stores,
  task: Task,
  attempt: Attempt,
): Promise<Applied | 'ASKED'> => {
  const now = context.clock.now();
  const leaseUntil = new Date(now.getTime() + context.settings.stuckAfterMs);
  const held = await tx.attempts.patch(attempt, null, { leaseUntil }, now);
  const type = 'attempt.dispatch.requested';
  const waiting = await tx.outbox.publishAgain([task.id, attempt.id], type, 'provider', now, {
    dueNow: false,
  });
  if (waiting === null) return apply(context, tx, task, held, { type: 'lease_lost' });
  await recordStuck(context, tx, task, `published again: ${type}`);
  return 'ASKED';
};

const recordStuck = (
  context: FlowContext,
  tx: Stores,
  task: Task,
  actionTaken: string,
): Promise<void> => {
  const now = context.clock.now();
  return tx.findings.record({
    id: context.ids.next(now),
    kind: 'STUCK_TASK',
    subjectKind: 'task',
    subjectId: task.id,
    tenantId: task.tenantId,
    detail: { status: task.status, version: task.version, since: task.updatedAt.toISOString() },
    actionTaken,
    now,
  });
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
      const step = await askStepAgain(context, tx, task, locked, 'reconciler');
      if (step === null) return null;
      crashpoint('reconcile.after_rescue_before_commit');
      const how = step.eventId === null ? 'asked' : 'published';
      await recordStuck(context, tx, task, `${how} again: ${step.type}`);
      return step;
    });
    if (again !== null) asked += 1;
  }
  return asked;
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

/** Outputs that nobody has helped to fetch within the window, and that the provider serves no longer: the task ends. */
export const endRetention = async (context: FlowContext): Promise<number> => {
  const now = context.clock.now();
  // The address may end long before the provider forgets the output, so a person has the whole window.
  const before = new Date(now.getTime() - context.settings.mediaReviewWindowMs);
  const ids = await context.uow.stores.repair.listRetentionOver(before, now, BATCH);
  let ended = 0;
  for (const taskId of ids) {
    const applied = await onTask(context, taskId, (task, attempt, tx) =>
      task.status === 'OUTPUT_FETCHING' && task.needsOperator && task.updatedAt < before
        ? applyEvent(context, tx, {
            task,
            attempt,
            event: { type: 'retention_over' },
            origin: { source: 'reconciler' },
            error: { class: 'OUTPUT_FETCH', code: 'OUTPUT_RETENTION_OVER' },
          })
        : null,
    );
    if (applied?.moved === true) ended += 1;
  }
  return ended;
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
