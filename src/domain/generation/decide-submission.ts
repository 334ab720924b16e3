import { holdsSlot, type AttemptStatus } from '../attempt/statuses';
import { assertNever } from '../kernel/assert-never';
import { mayStandBeside } from './attempt-pairs';
import { decideObservation } from './decide-observation';
import {
  canceledOrExpired,
  CLOSE_HOLD,
  FREE_SLOT,
  ignore,
  move,
  recordFinding,
  type AttemptFacts,
  type Decision,
  type Effect,
  type TaskEvent,
  type TaskFacts,
} from './decision';
import { isTerminal } from './statuses';
import { targetsOf } from './transitions';

const SUBMISSION_EVENTS = [
  'lease_lost',
  'provider_accepted',
  'operator_bound',
  'submit_ambiguous',
  'submit_rejected',
  'confirmed_not_created',
  'operator_declared_absent',
  'undecidable_window_over',
  'never_sent',
  'cancel_refused',
  'cancel_confirmed',
] as const;

/** Events that speak of one attempt: what its worker, its reconciliation or its cancel came to. */
export type SubmissionEvent = Extract<TaskEvent, { type: (typeof SUBMISSION_EVENTS)[number] }>;

export const isSubmissionEvent = (event: TaskEvent): event is SubmissionEvent =>
  (SUBMISSION_EVENTS as readonly TaskEvent['type'][]).includes(event.type);

/**
 * Judges an event of one attempt. Only the current attempt moves its task (or the last one that a
 * cancel still waits for); the answer for an older one, or after the end, is an observation all the
 * same: it moves the attempt and is recorded.
 */
export const decideSubmission = (facts: TaskFacts, event: SubmissionEvent): Decision => {
  const attempt = facts.attempt;
  if (attempt === null) return ignore('NOT_CURRENT_ATTEMPT');
  if (event.type === 'provider_accepted' || event.type === 'operator_bound') {
    return decideBound(facts, attempt, event);
  }
  const to = attemptTargetOf(attempt.status, event);
  if (isTerminal(facts.status)) return ignore('TERMINAL', effectsOfAttempt(to), to);
  if (attempt.status === 'FAILED_BEFORE_ACCEPT') {
    return to === null ? ignore('NO_NEWS') : ignore('ALREADY_PAST', effectsOfAttempt(to), to);
  }
  const isLastHope = facts.status === 'CANCEL_REQUESTED' && facts.othersAreOver === true;
  if (!attempt.isCurrent && !isLastHope) {
    return ignore('NOT_CURRENT_ATTEMPT', effectsOfAttempt(to), to);
  }
  if (targetsOf(facts.status, event.type).length === 0) {
    return to !== null && mayStandBeside(facts.status, to)
      ? ignore('ALREADY_PAST', effectsOfAttempt(to), to)
      : ignore('NOT_LISTED');
  }
  return decideOfCurrent(facts, attempt, event, to);
};

type Unbound = Exclude<SubmissionEvent, { type: 'provider_accepted' | 'operator_bound' }>;

const OPEN: readonly AttemptStatus[] = ['NEW', 'SENDING', 'UNKNOWN', 'ABANDONED'];
/** Judged by the provider's list or a person: never while a worker may still be sending. */
const IN_DOUBT: readonly AttemptStatus[] = ['UNKNOWN', 'ABANDONED'];
const MAY_BE_BOUND: readonly AttemptStatus[] = ['SENDING', ...IN_DOUBT, 'FAILED_BEFORE_ACCEPT'];

/** A job whose id is all that is known of it. */
export const SEEN_ALIVE = {
  type: 'job_observed',
  job: 'QUEUED',
  hasOutputs: false,
  mayRetry: false,
} as const satisfies TaskEvent;

/** Where the event takes the attempt; null where it does not fit, or says nothing new. */
const attemptTargetOf = (from: AttemptStatus, event: Unbound): AttemptStatus | null => {
  switch (event.type) {
    case 'lease_lost':
    case 'submit_ambiguous':
      return from === 'SENDING' ? 'UNKNOWN' : null;
    case 'submit_rejected':
      // Taken for never made, and refused late: news only where the refusal cost money.
      if (from === 'FAILED_BEFORE_ACCEPT') return event.charged ? 'FAILED' : null;
      if (!OPEN.includes(from)) return null;
      if (!event.charged) return 'FAILED_BEFORE_ACCEPT';
      // A refusal that cost money is no "nothing happened", and cannot come before the first byte.
      return from === 'NEW' ? null : 'FAILED';
    case 'confirmed_not_created':
    case 'operator_declared_absent':
      return IN_DOUBT.includes(from) ? 'FAILED_BEFORE_ACCEPT' : null;
    case 'undecidable_window_over':
      return from === 'UNKNOWN' ? 'ABANDONED' : null;
    case 'never_sent':
      return from === 'NEW' ? 'CANCELED' : null;
    case 'cancel_confirmed':
      return from === 'ACKED' || from === 'RUNNING' || IN_DOUBT.includes(from) ? 'CANCELED' : null;
    case 'cancel_refused':
      return null;
    default:
      return assertNever(event, 'submission event');
  }
};

/** What follows for an attempt whose task does not move with it. */
const effectsOfAttempt = (to: AttemptStatus | null): readonly Effect[] => {
  if (to === null) return [];
  if (to === 'UNKNOWN') return [{ kind: 'REQUEST_RECONCILE' }];
  if (to === 'ABANDONED') return [recordFinding('COST_RISK_UNKNOWN_SUBMIT'), FREE_SLOT];
  return holdsSlot(to) ? [] : [FREE_SLOT];
};

const decideOfCurrent = (
  facts: TaskFacts,
  attempt: AttemptFacts,
  event: Unbound,
  to: AttemptStatus | null,
): Decision => {
  if (event.type === 'cancel_refused') return move(facts, event.type, facts.status);
  if (event.type === 'lease_lost' && attempt.status === 'NEW') {
    // Nothing was sent: the dispatch is claimed again, and finds the cancel if there is one.
    return move(facts, event.type, facts.status, { effects: [{ kind: 'REQUEST_DISPATCH' }] });
  }
  if (to === null) return ignore('NO_NEWS');
  switch (event.type) {
    case 'lease_lost':
    case 'submit_ambiguous':
      return move(
        facts,
        event.type,
        facts.status === 'CANCEL_REQUESTED' ? 'CANCEL_REQUESTED' : 'SUBMIT_UNKNOWN',
        { effects: [{ kind: 'REQUEST_RECONCILE' }], attemptTo: to },
      );
    case 'submit_rejected':
    case 'confirmed_not_created':
    case 'operator_declared_absent':
      return decideNotCreated(facts, event, to);
    case 'undecidable_window_over':
      return decideUndecidable(facts, event.retryByPolicy);
    case 'never_sent':
    case 'cancel_confirmed':
      if (facts.status === 'DISPATCHING') {
        return move(facts, event.type, 'RETRY_WAIT', { effects: [FREE_SLOT], attemptTo: to });
      }
      return move(facts, event.type, canceledOrExpired(facts), {
        effects: [CLOSE_HOLD, FREE_SLOT],
        attemptTo: to,
        cancelOutcome: event.type === 'never_sent' ? 'BEFORE_SUBMIT' : 'CONFIRMED',
      });
    default:
      return assertNever(event, 'submission event');
  }
};

/** A job id is known for the attempt, by the provider's own answer or by a person's finding. */
const decideBound = (
  facts: TaskFacts,
  attempt: AttemptFacts,
  event: Extract<SubmissionEvent, { type: 'provider_accepted' | 'operator_bound' }>,
): Decision => {
  if (attempt.hasJob) {
    // A callback or a poll was quicker. The same id is no news; another one is a second, paid job.
    const second = event.type === 'provider_accepted' && event.otherJob === true;
    return ignore('NO_NEWS', second ? [recordFinding('DUPLICATE_PROVIDER_JOB')] : []);
  }
  const bindsHere = targetsOf(facts.status, event.type).length > 0 && attempt.isCurrent;
  if (!bindsHere) {
    // As any other sight of the job: adopted, called a duplicate, or recorded after the end.
    return decideObservation(facts, SEEN_ALIVE);
  }
  if (!MAY_BE_BOUND.includes(attempt.status)) {
    return ignore('NOT_LISTED', [recordFinding('DUPLICATE_PROVIDER_JOB')]);
  }
  return facts.status === 'CANCEL_REQUESTED'
    ? move(facts, event.type, 'CANCEL_REQUESTED', {
        effects: [{ kind: 'REQUEST_CANCEL' }],
        attemptTo: 'ACKED',
      })
    : move(facts, event.type, 'SUBMITTED', { attemptTo: 'ACKED' });
};

/** The provider created nothing (or refused and, rarely, charged for the refusal). */
const decideNotCreated = (
  facts: TaskFacts,
  event: Extract<
    Unbound,
    { type: 'submit_rejected' | 'confirmed_not_created' | 'operator_declared_absent' }
  >,
  attemptTo: AttemptStatus,
): Decision => {
  if (facts.status === 'CANCEL_REQUESTED') {
    return move(facts, event.type, canceledOrExpired(facts), {
      effects: [CLOSE_HOLD, FREE_SLOT],
      attemptTo,
      cancelOutcome: 'BEFORE_SUBMIT',
    });
  }
  // A confirmed absence always allows the next attempt; whether the budget does is judged at dispatch.
  return event.mayRetry || event.type !== 'submit_rejected'
    ? move(facts, event.type, 'RETRY_WAIT', { effects: [FREE_SLOT], attemptTo })
    : move(facts, event.type, 'FAILED_FINAL', { effects: [CLOSE_HOLD, FREE_SLOT], attemptTo });
};

/** Nobody could find out. The attempt is given up for lost, gives back its slot, and stays watched. */
const decideUndecidable = (facts: TaskFacts, retryByPolicy: boolean): Decision => {
  const finding = recordFinding('COST_RISK_UNKNOWN_SUBMIT');
  return retryByPolicy && facts.status === 'SUBMIT_UNKNOWN'
    ? move(facts, 'undecidable_window_over', 'RETRY_WAIT', {
        effects: [finding, FREE_SLOT],
        attemptTo: 'ABANDONED',
      })
    : move(facts, 'undecidable_window_over', 'EXPIRED', {
        effects: [finding, CLOSE_HOLD, FREE_SLOT],
        attemptTo: 'ABANDONED',
      });
};
