import type { Attempt } from '../../domain/attempt/attempt';
import { holdsSlot, isAttemptSettled } from '../../domain/attempt/statuses';
import type { Settlement } from '../../domain/billing/settlement';
import { decide, isAdoption } from '../../domain/generation/decide';
import type { Decision, Step, TaskFacts } from '../../domain/generation/decision';
import { evolve } from '../../domain/generation/evolve';
import { isTerminal } from '../../domain/generation/statuses';
import type { Task } from '../../domain/generation/task';
import { crashpoint } from '../../ports/crash-points';
import type { OutboxMessage } from '../../ports/messages';
import type { AttemptPatch } from '../../ports/stores/attempt-store';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';
import { together } from '../together';
import { isInferredAbsence, messagesOf } from './effect-messages';
import type { EventInput } from './event-input';
import { planSettlement, settlementMessage } from './plan-settlement';

export interface Applied {
  readonly decision: Decision;
  readonly moved: boolean;
  readonly task: Task;
  readonly attempt: Attempt | null;
  /** The attempt's slot may be given back, after the commit. */
  readonly freeSlot: boolean;
  /** The attempt has a living job again and no slot: it takes one, after the commit. */
  readonly takeSlot: boolean;
  /** A newer attempt that had not left and gave way to the one that was found; its slot is free too. */
  readonly withdrawn?: Attempt;
}

/**
 * Judges an event and commits what follows from it inside the caller's transaction: the attempt's own move, one
 * statement per step of the task with its history and messages, the money, the findings. Nothing here leaves the
 * database: messages go by the outbox, and a slot is given back by the caller after the commit.
 */
export const applyEvent = async (
  context: FlowContext,
  tx: Stores,
  input: EventInput,
): Promise<Applied> => {
  const withdrawn = await withdrawUnsent(context, tx, input);
  if (withdrawn?.attempt == null) return applyOne(context, tx, input);
  const applied = await applyOne(context, tx, { ...input, task: withdrawn.task });
  return { ...applied, withdrawn: withdrawn.attempt };
};

/**
 * A job of an earlier attempt was found just when a newer one was to be sent. Both rows are locked, and NEW → SENDING
 * needs them: what has not left is withdrawn, so that the job which is paid for already is the only one.
 */
const withdrawUnsent = async (
  context: FlowContext,
  tx: Stores,
  { task, attempt, event, origin }: EventInput,
): Promise<Applied | null> => {
  if (task.status !== 'DISPATCHING' || attempt === null) return null;
  if (attempt.attemptNo === task.currentAttemptNo) return null;
  if (
    !isAdoption({ status: attempt.status, hasJob: attempt.jobId !== null, isCurrent: false }, event)
  )
    return null;
  const attempts = await tx.attempts.listOfTask(task.id);
  const newer = attempts.find((each) => each.attemptNo === task.currentAttemptNo);
  const locked = newer?.status === 'NEW' ? await tx.attempts.lock(newer.id) : null;
  if (locked?.status !== 'NEW') return null;
  return applyOne(context, tx, { task, attempt: locked, event: { type: 'never_sent' }, origin });
};

const applyOne = async (context: FlowContext, tx: Stores, input: EventInput): Promise<Applied> => {
  const now = context.clock.now();
  const decision = decide(factsOf(input, await othersAreOver(tx, input)), input.event);
  const freeSlot = decision.effects.some((effect) => effect.kind === 'FREE_SLOT');
  const takeSlot = livesAgain(input, decision);
  const patch = attemptPatchOf(context, input, decision, now);
  await recordFindings(context, tx, input, decision, now);
  if (decision.kind === 'IGNORE') {
    const attempt = await moveAttempt(tx, input, decision, patch, now);
    await recordIgnored(context, tx, input, decision, attempt, now);
    return { decision, moved: false, task: input.task, attempt, freeSlot, takeSlot };
  }
  // Both rows are locked: attempt and task move in one round trip.
  const [attempt, task] = await together(
    moveAttempt(tx, input, decision, patch, now),
    moveTask(context, tx, { ...input, attempt: patched(input, decision, patch) }, decision, now),
  );
  return { decision, moved: true, task, attempt, freeSlot, takeSlot };
};

/** Given up for lost or taken for never made, its slot has gone; its job is there all the same. */
const livesAgain = ({ attempt }: EventInput, { attemptTo }: Decision): boolean =>
  attempt !== null && attemptTo !== null && !holdsSlot(attempt.status) && holdsSlot(attemptTo);

/**
 * Whether a cancel waits for nothing but the attempt that the event speaks of. Asked only where it decides: of one that
 * is not the current one, or that was taken for never made, while a cancel waits.
 */
const othersAreOver = async (tx: Stores, { task, attempt }: EventInput): Promise<boolean> => {
  if (task.status !== 'CANCEL_REQUESTED' || attempt === null) return false;
  const isCurrent = attempt.attemptNo === task.currentAttemptNo;
  if (isCurrent && attempt.status !== 'FAILED_BEFORE_ACCEPT') return false;
  const others = (await tx.attempts.listOfTask(task.id)).filter(({ id }) => id !== attempt.id);
  return others.every(({ status }) => isAttemptSettled(status));
};

const factsOf = (input: EventInput, areOthersOver: boolean): TaskFacts => ({
  status: input.task.status,
  version: input.task.version,
  cancelReason: input.task.cancelReason,
  attempt:
    input.attempt === null
      ? null
      : {
          status: input.attempt.status,
          hasJob: input.attempt.jobId !== null,
          isCurrent: input.attempt.attemptNo === input.task.currentAttemptNo,
        },
  earlierAttemptUnknown: input.earlierAttemptUnknown ?? false,
  othersAreOver: areOthersOver,
});

/** Null: the attempt stays as it is. */
const attemptPatchOf = (
  context: FlowContext,
  { attempt, attemptPatch, event }: EventInput,
  decision: Decision,
  now: Date,
): AttemptPatch | null => {
  if (attempt === null) return null;
  const to = decision.attemptTo;
  const patch: AttemptPatch = {
    ...(to === null ? {} : attemptTimes(context, attempt, to, now)),
    ...(isInferredAbsence(decision, event) ? { watchedUntil: watchEnd(attempt, now) } : {}),
    ...attemptPatch,
  };
  return to === null && Object.keys(patch).length === 0 ? null : patch;
};

const moveAttempt = async (
  tx: Stores,
  { attempt }: EventInput,
  decision: Decision,
  patch: AttemptPatch | null,
  now: Date,
): Promise<Attempt | null> =>
  attempt === null || patch === null
    ? attempt
    : tx.attempts.patch(attempt, decision.attemptTo, patch, now);

/** The attempt as it will be: what follows from the event is judged by it. */
const patched = (
  { attempt }: EventInput,
  decision: Decision,
  patch: AttemptPatch | null,
): Attempt | null =>
  attempt === null ? null : { ...attempt, ...patch, status: decision.attemptTo ?? attempt.status };

const attemptTimes = (
  context: FlowContext,
  attempt: Attempt,
  to: Attempt['status'],
  now: Date,
): AttemptPatch => {
  if (isAttemptSettled(to)) {
    return { completedAt: now, nextPollAt: null, leaseOwner: null, leaseUntil: null };
  }
  if (to === 'ACKED' || to === 'RUNNING') {
    return {
      acceptedAt: attempt.acceptedAt ?? now,
      // It may have been taken for never made.
      completedAt: null,
      leaseOwner: null,
      leaseUntil: null,
      nextPollAt: attempt.nextPollAt ?? new Date(now.getTime() + context.settings.pollMsFirst),
    };
  }
  return {
    leaseOwner: null,
    leaseUntil: null,
    ...(to === 'ABANDONED' ? { watchedUntil: watchEnd(attempt, now) } : {}),
  };
};

/** An attempt given up for lost, or believed absent, may still turn up as a job, and as a cost, for this long. */
const WATCH_MS = 7 * 24 * 3_600_000;

/** A watch that was promised is not cut short. */
const watchEnd = ({ watchedUntil }: Attempt, now: Date): Date =>
  watchedUntil ?? new Date(now.getTime() + WATCH_MS);

const recordFindings = async (
  context: FlowContext,
  tx: Stores,
  input: EventInput,
  decision: Decision,
  now: Date,
): Promise<void> => {
  for (const effect of decision.effects) {
    if (effect.kind !== 'RECORD_FINDING') continue;
    await tx.findings.record({
      id: context.ids.next(now),
      kind: effect.finding,
      subjectKind: input.attempt === null ? 'task' : 'attempt',
      subjectId: input.attempt?.id ?? input.task.id,
      tenantId: input.task.tenantId,
      detail: {
        taskId: input.task.id,
        event: input.event.type,
        status: input.task.status,
        ...input.findingDetail,
      },
      actionTaken: null,
      now,
    });
  }
};

const recordIgnored = async (
  context: FlowContext,
  tx: Stores,
  input: EventInput,
  decision: Extract<Decision, { kind: 'IGNORE' }>,
  attempt: Attempt | null,
  now: Date,
): Promise<void> => {
  await tx.tasks.recordIgnored({
    task: input.task,
    type: input.event.type,
    reason: decision.reason,
    eventId: context.ids.next(now),
    origin: originOf(input),
    now,
  });
  const messages = messagesOf(context, { ...input, attempt }, decision, now);
  if (messages.length === 0) return;
  await tx.outbox.add(
    {
      type: 'generation',
      id: input.task.id,
      version: input.task.version,
      tenantId: input.task.tenantId,
      traceId: input.task.traceId,
      causationId: input.origin.sourceEventId ?? null,
    },
    messages,
    now,
  );
};

const moveTask = async (
  context: FlowContext,
  tx: Stores,
  input: EventInput,
  decision: Extract<Decision, { kind: 'MOVE' }>,
  now: Date,
): Promise<Task> => {
  const settlement = await planSettlementOf(tx, input, decision);
  // The ledger was out of reach: the generation ends all the same, and the hold is closed by the message.
  const later = settlement !== null && tx.money.settlesLater;
  let task = input.task;
  for (const [index, step] of decision.steps.entries()) {
    const last = index === decision.steps.length - 1;
    const moved: Task | null = await tx.tasks.move({
      task,
      step,
      patch: {
        ...evolve(task, step, evolveContext(context, input, decision, now)),
        ...(last ? input.taskPatch : {}),
        ...(last && settlement !== null && !later
          ? { settledMicros: settlement.settleMicros }
          : {}),
      },
      eventId: context.ids.next(now),
      origin: originOf(input),
      messages: last
        ? [
            ...withAnnouncement(context, input, decision, step, task, now),
            ...(later
              ? [settlementMessage(context, input.task.id, input.attempt, settlement, now)]
              : []),
          ]
        : [],
      now,
    });
    if (moved === null) throw new VersionConflictError(task.id, task.version);
    task = moved;
  }
  if (later) crashpoint('settle.deferred_before_commit');
  else if (settlement !== null) await closeHold(context, tx, input, settlement, now);
  return task;
};

const planSettlementOf = async (
  tx: Stores,
  input: EventInput,
  decision: Extract<Decision, { kind: 'MOVE' }>,
): Promise<Settlement | null> => {
  const end = decision.steps[decision.steps.length - 1]?.to;
  return end === undefined || !isTerminal(end)
    ? null
    : planSettlement(tx, { task: input.task, attempt: input.attempt, end });
};

const closeHold = async (
  context: FlowContext,
  tx: Stores,
  input: EventInput,
  settlement: Settlement,
  now: Date,
): Promise<void> => {
  const outcome = await tx.money.closeHold({
    taskId: input.task.id,
    tenantId: input.task.tenantId,
    settlement,
    attemptId: input.attempt?.id ?? null,
    settleEntryId: context.ids.next(now),
    releaseEntryId: context.ids.next(now),
    now,
  });
  if (outcome !== 'CLOSED') {
    context.log.warn('hold was closed before', { taskId: input.task.id, outcome });
  }
};

const evolveContext = (
  context: FlowContext,
  input: EventInput,
  decision: Extract<Decision, { kind: 'MOVE' }>,
  now: Date,
): Parameters<typeof evolve>[2] => ({
  now,
  retryAt: input.retryAt ?? null,
  attempt: input.attempt,
  cancelReason: input.event.type === 'cancel_requested' ? input.event.reason : null,
  cancelOutcome: decision.cancelOutcome,
  recoveryWindowMs: context.settings.recoveryWindowMs,
  error: input.error ?? null,
});

const withAnnouncement = (
  context: FlowContext,
  input: EventInput,
  decision: Extract<Decision, { kind: 'MOVE' }>,
  step: Step,
  task: Task,
  now: Date,
): OutboxMessage[] => [
  ...messagesOf(context, input, decision, now),
  {
    eventId: context.ids.next(now),
    type: 'task.status.changed',
    payload: {
      taskId: task.id,
      version: task.version + 1,
      status: step.to,
      terminal: isTerminal(step.to),
    },
    availableAt: now,
  },
];

const originOf = (
  input: EventInput,
): Parameters<Stores['tasks']['recordIgnored']>[0]['origin'] => ({
  source: input.origin.source,
  sourceEventId: input.origin.sourceEventId ?? null,
  attemptId: input.attempt?.id ?? null,
  providerUpdatedAt: input.origin.providerUpdatedAt ?? null,
  payload: input.origin.payload ?? null,
});

/** The row moved between lock and write: a defect of the locking order. The transaction rolls back. */
export class VersionConflictError extends Error {
  readonly code = 'VERSION_CONFLICT';
  constructor(taskId: string, version: number) {
    super(`Generation ${taskId} is no longer at version ${version}`);
  }
}
