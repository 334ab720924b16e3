import { holdsSlot, type AttemptStatus } from '../../../../src/domain/attempt/statuses';
import { isTerminal } from '../../../../src/domain/generation/statuses';
import type { Task } from '../../../../src/domain/generation/task';
import { findViolations } from '../../../../src/domain/reconciliation/invariants';
import type { Applied, SimulatedWorld } from './simulated-world';

/** Throws with the first thing that does not hold; a plain throw keeps 20,000 runs quick. */
const demand = (holds: boolean, says: string): void => {
  if (!holds) throw new Error(says);
};

/** What must hold of the stored rows at any moment. */
export const checkRows = (world: SimulatedWorld): void => {
  const violations = findViolations(world.facts());
  demand(violations.length === 0, JSON.stringify(violations));
  const { task } = world;
  const waits = task.status === 'QUEUED' || task.status === 'RETRY_WAIT';
  demand((task.scheduleAt !== null) === waits, `schedule_at is wrong at ${task.status}`);
  demand((task.finishedAt !== null) === isTerminal(task.status), `finished_at at ${task.status}`);
  demand(world.closings <= 1, 'the hold was closed twice');
  for (const attempt of world.attempts) {
    demand(
      !attempt.hasSlot || holdsSlot(attempt.status),
      `attempt ${attempt.no} is ${attempt.status} and keeps a slot`,
    );
  }
  checkCancel(task, world);
};

/** The outcome told to the user agrees with how the task goes on or ended. */
const checkCancel = (task: Task, world: SimulatedWorld): void => {
  const { cancelOutcome, status } = task;
  if (status === 'CANCELED') demand(cancelOutcome !== null, 'CANCELED without an outcome');
  if (status === 'CANCEL_REQUESTED') {
    demand(cancelOutcome === null, `${cancelOutcome ?? ''} before the end`);
    demand(task.cancelReason !== null, 'asked to stop for no reason');
  }
  switch (cancelOutcome) {
    case null:
      return;
    case 'TOO_LATE':
      return demand(world.current?.status === 'SUCCEEDED', 'TOO_LATE without a completed job');
    case 'BEFORE_SUBMIT':
    case 'CONFIRMED':
    case 'MOOT':
      demand(status === 'CANCELED' || status === 'EXPIRED', `${cancelOutcome} at ${status}`);
      if (status === 'CANCELED') demand(task.cancelReason !== 'DEADLINE', 'CANCELED by a deadline');
  }
};

const isInDoubt = (status: AttemptStatus): boolean =>
  status === 'SENDING' || status === 'UNKNOWN' || status === 'ABANDONED';

/** What must hold between before and after one event. */
export const checkStep = (world: SimulatedWorld, applied: Applied): void => {
  const { before, decision, event, attempt } = applied;
  const { task } = world;
  const steps = decision.kind === 'MOVE' ? decision.steps.length : 0;
  demand(task.version === before.version + steps, `version ${before.version} → ${task.version}`);
  demand(task.progress >= before.progress, 'progress fell');
  demand(!isTerminal(before.status) || task.status === before.status, `left ${before.status}`);
  if (event.type === 'undecidable_window_over' && task.status !== before.status) {
    demand(task.status === 'EXPIRED' || event.retryByPolicy, 'a blind retry without a decision');
  }
  if (event.type === 'cancel_requested' && task.version > before.version) {
    const inDoubt = world.attempts.some(({ status, watched }) => isInDoubt(status) && watched);
    demand(!inDoubt || task.status !== 'CANCELED', 'CANCELED while a job may be alive');
  }
  const completed = event.type === 'job_observed' && event.job === 'SUCCEEDED' && event.hasOutputs;
  if (completed && before.status === 'CANCEL_REQUESTED' && decision.attemptTo === 'SUCCEEDED') {
    const wins = attempt?.no === before.currentAttemptNo;
    demand(!wins || task.status === 'OUTPUT_FETCHING', `completion lost: ${task.status}`);
  }
};

/** No request leaves while another may have made a job, unless that risk was taken and recorded. */
export const checkNoBlindSubmit = (world: SimulatedWorld): void => {
  const alive = world.attempts.filter(
    ({ truth }) => truth !== null && (truth.status === 'QUEUED' || truth.status === 'RUNNING'),
  );
  const isLate = world.attempts.some(({ late }) => late);
  // An absence was believed, and the request was on its way: nobody can know of that risk before the job is seen.
  const isRecorded = isLate || world.findings.includes('COST_RISK_UNKNOWN_SUBMIT');
  demand(alive.length <= 1 || isRecorded, `${alive.length} jobs are alive for one generation`);
  const duplicate = world.findings.includes('DUPLICATE_PROVIDER_JOB');
  demand(!duplicate || isRecorded, 'a duplicate job, and no recorded risk');
};
