import type { Attempt } from '../attempt/attempt';
import type { CancelOutcomeWord, CancelReason } from './statuses';
import type { Step } from './decision';
import { isTerminal } from './statuses';
import type { Task } from './task';

/** Columns of the hot row that a transition may change. */
export type TaskPatch = Partial<
  Pick<
    Task,
    | 'progress'
    | 'selectedProvider'
    | 'selectedAccount'
    | 'currentAttemptNo'
    | 'reservedMicros'
    | 'settledMicros'
    | 'outputAssetId'
    | 'rawGeneration'
    | 'scheduleAt'
    | 'waitReason'
    | 'waitingSince'
    | 'submitTries'
    | 'fetchTries'
    | 'mediaTries'
    | 'stepStartedAt'
    | 'nextRetryAt'
    | 'recoveryDeadlineAt'
    | 'cancelRequestedAt'
    | 'cancelReason'
    | 'cancelOutcome'
    | 'lastErrorClass'
    | 'lastErrorCode'
    | 'needsOperator'
    | 'startedAt'
    | 'finishedAt'
  >
>;

export interface EvolveContext {
  readonly now: Date;
  /** When the next try is due, for RETRY_WAIT and for a step's own retry. */
  readonly retryAt: Date | null;
  /** The attempt that the event speaks of; a claim brings a new one. */
  readonly attempt: Pick<Attempt, 'attemptNo' | 'providerId' | 'accountId'> | null;
  readonly cancelReason: CancelReason | null;
  readonly cancelOutcome: CancelOutcomeWord | null;
  readonly recoveryWindowMs: number;
  readonly error: { readonly class: string; readonly code: string } | null;
}

/** What a step changes in the hot row beside status and version. Pure. */
export const evolve = (task: Task, step: Step, context: EvolveContext): TaskPatch => ({
  ...errorPatch(context),
  ...schedulePatch(task, step, context),
  ...cancelPatch(task, step, context),
  ...operatorPatch(task, step),
  ...stepPatch(task, step, context),
  ...(isTerminal(step.to) && task.finishedAt === null
    ? {
        finishedAt: context.now,
        nextRetryAt: null,
        ...(step.to === 'SUCCEEDED' ? { progress: 100 } : {}),
      }
    : {}),
});

const errorPatch = (context: EvolveContext): TaskPatch =>
  context.error === null
    ? {}
    : { lastErrorClass: context.error.class, lastErrorCode: context.error.code };

const schedulePatch = (task: Task, step: Step, context: EvolveContext): TaskPatch => {
  if (step.to === 'QUEUED') {
    return {
      scheduleAt: context.now,
      nextRetryAt: null,
      waitReason: null,
      waitingSince: context.now,
    };
  }
  if (step.to === 'RETRY_WAIT') {
    const at = context.retryAt ?? context.now;
    return { scheduleAt: at, nextRetryAt: at, waitReason: 'RETRY_WAIT', waitingSince: context.now };
  }
  return task.scheduleAt === null && task.waitReason === null
    ? {}
    : { scheduleAt: null, waitReason: null, waitingSince: null };
};

const cancelPatch = (task: Task, step: Step, context: EvolveContext): TaskPatch => {
  const outcome = context.cancelOutcome === null ? {} : { cancelOutcome: context.cancelOutcome };
  const asked = step.event === 'cancel_requested' || step.to === 'CANCEL_REQUESTED';
  if (!asked || task.cancelRequestedAt !== null) return outcome;
  return {
    ...outcome,
    cancelRequestedAt: context.now,
    cancelReason: step.event === 'deadline_passed' ? 'DEADLINE' : (context.cancelReason ?? 'USER'),
    ...(step.to === 'CANCEL_REQUESTED'
      ? { recoveryDeadlineAt: new Date(context.now.getTime() + context.recoveryWindowMs) }
      : {}),
  };
};

/** A person was waited for; whatever moves the task on from there ends the wait. */
const operatorPatch = (task: Task, step: Step): TaskPatch =>
  task.needsOperator && (step.to !== task.status || step.event === 'step_retryable')
    ? { needsOperator: false }
    : {};

/** The attempt whose job was found is the current one from here on, whichever came after it. */
const adoptedPatch = ({ attempt }: EvolveContext): TaskPatch =>
  attempt === null
    ? {}
    : {
        currentAttemptNo: attempt.attemptNo,
        selectedProvider: attempt.providerId,
        selectedAccount: attempt.accountId,
      };

const stepPatch = (task: Task, step: Step, context: EvolveContext): TaskPatch => {
  if (step.event === 'dispatch_claimed') {
    return {
      startedAt: task.startedAt ?? context.now,
      currentAttemptNo: context.attempt?.attemptNo ?? task.currentAttemptNo + 1,
      submitTries: task.submitTries + 1,
    };
  }
  // What was withdrawn before it left is no try.
  if (step.event === 'never_sent') return { submitTries: Math.max(task.submitTries - 1, 0) };
  const waits = task.status === 'QUEUED' || task.status === 'RETRY_WAIT';
  if (step.event === 'earlier_attempt_job_found' && waits) return adoptedPatch(context);
  if (step.event === 'step_retryable' || step.event === 'url_refreshed') {
    return task.status === 'OUTPUT_FETCHING'
      ? { fetchTries: task.fetchTries + 1, nextRetryAt: context.retryAt }
      : { mediaTries: task.mediaTries + 1, nextRetryAt: context.retryAt };
  }
  if (step.event === 'raw_corrupt' && step.to === 'OUTPUT_FETCHING') {
    return {
      rawGeneration: task.rawGeneration + 1,
      fetchTries: task.fetchTries + 1,
      nextRetryAt: null,
    };
  }
  if (step.event === 'object_conflict' || step.event === 'media_budget_exhausted') {
    return { needsOperator: true, nextRetryAt: null };
  }
  if (step.event === 'output_persisted') return { stepStartedAt: context.now, nextRetryAt: null };
  if (step.to === 'OUTPUT_FETCHING') {
    return step.event === 'cancel_requested' || step.event === 'earlier_attempt_job_found'
      ? {}
      : { stepStartedAt: context.now, nextRetryAt: null, recoveryDeadlineAt: null };
  }
  return {};
};
