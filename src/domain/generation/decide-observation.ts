import { holdsSlot, mayAttemptMove, type AttemptStatus } from '../attempt/statuses';
import { assertNever } from '../kernel/assert-never';
import {
  canceledOrExpired,
  CLOSE_HOLD,
  FREE_SLOT,
  ignore,
  move,
  moveSteps,
  recordFinding,
  type AttemptFacts,
  type Decision,
  type Effect,
  type Step,
  type TaskEvent,
  type TaskFacts,
} from './decision';
import { isTerminal } from './statuses';
import { targetsOf } from './transitions';

const REQUEST_CANCEL: Effect = { kind: 'REQUEST_CANCEL' };

export type Observed = Extract<TaskEvent, { type: 'job_observed' }>;

/** Where an observation takes the attempt; null when it says nothing new of it, or the law forbids it. */
export const attemptTargetOf = (from: AttemptStatus, event: Observed): AttemptStatus | null => {
  const to = observedAttemptStatus(event);
  // NEW: nothing was sent, so nothing can be observed.
  return from !== 'NEW' && mayAttemptMove(from, to) ? to : null;
};

const observedAttemptStatus = (event: Observed): AttemptStatus => {
  switch (event.job) {
    case 'QUEUED':
    case 'UNRECOGNIZED':
      return 'ACKED';
    case 'RUNNING':
      return 'RUNNING';
    case 'SUCCEEDED':
      // Success without an output is a failure with a code of its own.
      return event.hasOutputs ? 'SUCCEEDED' : 'FAILED';
    case 'FAILED':
      return 'FAILED';
    case 'CANCELED':
      return 'CANCELED';
    default:
      return assertNever(event.job, 'job status');
  }
};

/** Judges what a provider said of a job, whichever way it came. */
export const decideObservation = (facts: TaskFacts, event: Observed): Decision => {
  const attempt = facts.attempt;
  if (attempt === null) return ignore('NOT_CURRENT_ATTEMPT');
  const attemptTo = attemptTargetOf(attempt.status, event);
  const ended = attemptTo !== null && !holdsSlot(attemptTo);
  const freed: Effect[] = ended ? [FREE_SLOT] : [];
  if (attemptTo === null && !attempt.hasJob) return decideImpossibleJob(facts, event);
  if (isTerminal(facts.status)) {
    return ignore('TERMINAL', [...freed, ...effectsAfterEnd(attempt, event)], attemptTo);
  }
  if (!attempt.isCurrent) {
    // A cancel may wait for nothing but this attempt: its failure or its stop is the end.
    const isLastHope = facts.status === 'CANCEL_REQUESTED' && facts.othersAreOver === true;
    if (isLastHope && (attemptTo === 'FAILED' || attemptTo === 'CANCELED')) {
      return decideObservedWhileCanceling(facts, event, attempt, attemptTo, freed);
    }
    return mayBeAdopted(facts, attempt, event)
      ? withFound(facts, 'earlier_attempt_job_found', event, attemptTo, freed)
      : decideEarlierAttempt(facts, attempt, event, attemptTo, freed);
  }
  if (event.job === 'UNRECOGNIZED' && attempt.hasJob) {
    return ignore('UNRECOGNIZED_STATUS', [recordFinding('UNRECOGNIZED_STATUS')]);
  }
  // Repeated or older than what is known: whatever the task's status, there is nothing to move.
  if (attemptTo === null) return ignore(isPastProvider(facts) ? 'ALREADY_PAST' : 'NO_NEWS');
  switch (facts.status) {
    case 'DISPATCHING':
    case 'SUBMIT_UNKNOWN':
      return withFound(facts, 'provider_job_found', event, attemptTo, freed);
    case 'QUEUED':
    case 'RETRY_WAIT':
      return attempt.status === 'ABANDONED' || attempt.status === 'FAILED_BEFORE_ACCEPT'
        ? withFound(facts, 'earlier_attempt_job_found', event, attemptTo, freed)
        : ignore('ALREADY_PAST', freed, attemptTo);
    case 'SUBMITTED':
    case 'RUNNING': {
      const next = stepFromSubmitted(facts.status, event);
      return next === null
        ? ignore('NO_NEWS', freed, attemptTo)
        : moveSteps(facts, [next.step], { effects: [...next.effects, ...freed], attemptTo });
    }
    case 'CANCEL_REQUESTED':
      return decideObservedWhileCanceling(facts, event, attempt, attemptTo, freed);
    case 'OUTPUT_FETCHING':
    case 'POST_PROCESSING':
      return ignore('ALREADY_PAST', freed, attemptTo);
    case 'CREATED':
    case 'VALIDATING':
    case 'QUOTA_RESERVED':
      return ignore('NOT_LISTED');
    default:
      return assertNever(facts.status, 'task status');
  }
};

/**
 * Whether the job of an attempt that is not the current one becomes the generation's: nothing else is under way, and it
 * lives or has an output. What its attempt comes to otherwise is a matter of its own, and of what it costs.
 */
const mayBeAdopted = (facts: TaskFacts, attempt: AttemptFacts, event: Observed): boolean =>
  (facts.status === 'QUEUED' || facts.status === 'RETRY_WAIT') && isWorthAdopting(attempt, event);

/** Given up for lost, or taken for never made, and alive or complete all the same. */
export const isWorthAdopting = (attempt: AttemptFacts, event: Observed): boolean =>
  !attempt.hasJob &&
  (attempt.status === 'ABANDONED' || attempt.status === 'FAILED_BEFORE_ACCEPT') &&
  (isAlive(event) || (event.job === 'SUCCEEDED' && event.hasOutputs));

const isAlive = (event: Observed): boolean =>
  event.job === 'QUEUED' || event.job === 'RUNNING' || event.job === 'UNRECOGNIZED';

const isPastProvider = ({ status }: TaskFacts): boolean =>
  ['QUEUED', 'RETRY_WAIT', 'OUTPUT_FETCHING', 'POST_PROCESSING'].includes(status);

/** A job of an attempt that never left, or that ended without one: paid, and nobody's. */
const decideImpossibleJob = (facts: TaskFacts, event: Observed): Decision =>
  ignore(isTerminal(facts.status) ? 'TERMINAL' : 'NOT_LISTED', [
    recordFinding('DUPLICATE_PROVIDER_JOB'),
    ...(isAlive(event) ? [REQUEST_CANCEL] : []),
  ]);

/** After the end nothing moves the task: a late result is kept, a job first seen now is stopped. */
const effectsAfterEnd = (attempt: AttemptFacts, event: Observed): readonly Effect[] => {
  // Also of an attempt that had ended otherwise: a cancel was confirmed, and the job completed all the same.
  const isResult = event.job === 'SUCCEEDED' && event.hasOutputs;
  // Nobody was told of this risk, unlike that of a submit that was given up for lost.
  const surprise = attempt.status === 'FAILED_BEFORE_ACCEPT' && !attempt.hasJob;
  const risk: Effect[] = surprise ? [recordFinding('COST_RISK_UNKNOWN_SUBMIT')] : [];
  if (isResult && attempt.status !== 'SUCCEEDED') return [...risk, recordFinding('LATE_RESULT')];
  return isAlive(event) && !attempt.hasJob ? [...risk, REQUEST_CANCEL] : risk;
};

/** First SUBMITTED, then the observation's own row: two versions in one transaction. */
const withFound = (
  facts: TaskFacts,
  found: 'provider_job_found' | 'earlier_attempt_job_found',
  event: Observed,
  attemptTo: AttemptStatus | null,
  freed: readonly Effect[],
): Decision => {
  const next = stepFromSubmitted('SUBMITTED', event);
  const first: Step = { event: found, to: 'SUBMITTED' };
  return next === null
    ? moveSteps(facts, [first], { attemptTo })
    : moveSteps(facts, [first, next.step], { effects: [...next.effects, ...freed], attemptTo });
};

const stepFromSubmitted = (
  status: 'SUBMITTED' | 'RUNNING',
  event: Observed,
): { step: Step; effects: readonly Effect[] } | null => {
  switch (event.job) {
    case 'QUEUED':
    case 'UNRECOGNIZED':
      return null;
    case 'RUNNING':
      return status === 'RUNNING'
        ? null
        : { step: { event: 'provider_running', to: 'RUNNING' }, effects: [] };
    case 'SUCCEEDED':
      return event.hasOutputs
        ? {
            step: { event: 'provider_succeeded', to: 'OUTPUT_FETCHING' },
            effects: [{ kind: 'REQUEST_FETCH' }],
          }
        : failedStep('provider_failed', event.mayRetry);
    case 'FAILED':
      return failedStep('provider_failed', event.mayRetry);
    case 'CANCELED':
      return failedStep('provider_canceled', event.mayRetry);
    default:
      return assertNever(event.job, 'job status');
  }
};

const failedStep = (
  event: 'provider_failed' | 'provider_canceled',
  mayRetry: boolean,
): { step: Step; effects: readonly Effect[] } =>
  mayRetry
    ? { step: { event, to: 'RETRY_WAIT' }, effects: [] }
    : { step: { event, to: 'FAILED_FINAL' }, effects: [CLOSE_HOLD] };

const decideObservedWhileCanceling = (
  facts: TaskFacts,
  event: Observed,
  attempt: AttemptFacts,
  attemptTo: AttemptStatus | null,
  freed: readonly Effect[],
): Decision => {
  const goesOn = isAlive(event) || (event.job === 'SUCCEEDED' && event.hasOutputs);
  // The cancel waits for an earlier attempt in doubt; that this one had a job after all, and it ended, is not the end.
  if (attempt.status === 'FAILED_BEFORE_ACCEPT' && !goesOn && facts.othersAreOver !== true) {
    return ignore('ALREADY_PAST', freed, attemptTo);
  }
  switch (event.job) {
    case 'QUEUED':
    case 'RUNNING':
    case 'UNRECOGNIZED':
      return attempt.hasJob
        ? ignore('NO_NEWS', freed, attemptTo)
        : move(facts, 'provider_job_found', 'CANCEL_REQUESTED', {
            effects: [REQUEST_CANCEL],
            attemptTo,
          });
    case 'SUCCEEDED':
      return event.hasOutputs
        ? move(facts, 'completion_won', 'OUTPUT_FETCHING', {
            effects: [{ kind: 'REQUEST_FETCH' }, ...freed],
            attemptTo,
            cancelOutcome: 'TOO_LATE',
          })
        : move(facts, 'provider_failed', canceledOrExpired(facts), {
            effects: [CLOSE_HOLD, ...freed],
            attemptTo,
            cancelOutcome: 'MOOT',
          });
    case 'FAILED':
      return move(facts, 'provider_failed', canceledOrExpired(facts), {
        effects: [CLOSE_HOLD, ...freed],
        attemptTo,
        cancelOutcome: 'MOOT',
      });
    case 'CANCELED':
      return move(facts, 'cancel_confirmed', canceledOrExpired(facts), {
        effects: [CLOSE_HOLD, ...freed],
        attemptTo,
        cancelOutcome: 'CONFIRMED',
      });
    default:
      return assertNever(event.job, 'job status');
  }
};

/** A newer attempt exists: a job of an older one is a duplicate. It is cancelled; its cost is the platform's. */
const decideEarlierAttempt = (
  facts: TaskFacts,
  attempt: AttemptFacts,
  event: Observed,
  attemptTo: AttemptStatus | null,
  freed: readonly Effect[],
): Decision => {
  if (attempt.hasJob) return ignore('NOT_CURRENT_ATTEMPT', freed, attemptTo);
  const effects: Effect[] = [
    recordFinding('DUPLICATE_PROVIDER_JOB'),
    ...(isAlive(event) ? [REQUEST_CANCEL] : freed),
  ];
  if (targetsOf(facts.status, 'earlier_attempt_job_found').includes(facts.status)) {
    return move(facts, 'earlier_attempt_job_found', facts.status, { effects, attemptTo });
  }
  return ignore('NOT_CURRENT_ATTEMPT', effects, attemptTo);
};
