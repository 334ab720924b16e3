import { assertNever } from '../kernel/assert-never';
import { mayStandBeside } from './attempt-pairs';
import { decideObservation, isWorthAdopting } from './decide-observation';
import { decideSubmission, isSubmissionEvent, SEEN_ALIVE } from './decide-submission';
import {
  CLOSE_HOLD,
  FREE_SLOT,
  ignore,
  move,
  recordFinding,
  type AttemptFacts,
  type Decision,
  type IgnoreReason,
  type TaskEvent,
  type TaskFacts,
} from './decision';
import { isTerminal } from './statuses';
import { targetsOf } from './transitions';

/**
 * Judges one event against one task: the only place where a generation's next status is chosen.
 * Pure: equal facts and event give an equal decision. The caller commits it or, on a version
 * conflict, reads again and asks again.
 */
export const decide = (facts: TaskFacts, event: TaskEvent): Decision => {
  if (event.type === 'job_observed') return decideObservation(facts, event);
  if (isSubmissionEvent(event)) return decideSubmission(facts, event);
  if (isTerminal(facts.status)) {
    return event.type === 'review_rejected' && facts.status === 'SUCCEEDED'
      ? move(facts, 'review_rejected', facts.status)
      : ignore('TERMINAL');
  }
  if (targetsOf(facts.status, event.type).length === 0) return ignore(whyNotListed(facts, event));
  switch (event.type) {
    case 'validation_started':
      return move(facts, event.type, 'VALIDATING');
    case 'review_required':
      return move(facts, event.type, facts.status);
    case 'review_approved':
    case 'validation_passed':
      return move(facts, event.type, 'QUOTA_RESERVED');
    case 'review_rejected':
    case 'input_withdrawn':
    case 'no_capable_model':
    case 'submit_budget_exhausted':
    case 'output_unrecoverable':
    case 'output_rejected':
    case 'media_window_over':
      return move(facts, event.type, 'FAILED_FINAL', { effects: [CLOSE_HOLD] });
    case 'queued':
    case 'retry_due':
      return move(facts, event.type, 'QUEUED', { effects: [{ kind: 'ANNOUNCE_QUEUED' }] });
    case 'dispatch_claimed':
      return decideClaimed(facts);
    case 'cancel_requested':
      return decideCancel(facts);
    case 'deadline_passed':
      return decideDeadline(facts);
    case 'step_retryable':
    case 'url_refreshed':
      return move(facts, event.type, facts.status, {
        effects: [{ kind: facts.status === 'OUTPUT_FETCHING' ? 'REQUEST_FETCH' : 'REQUEST_MEDIA' }],
      });
    case 'object_conflict':
      return move(facts, event.type, facts.status, {
        effects: [recordFinding('OBJECT_CONFLICT')],
      });
    case 'media_budget_exhausted':
      return move(facts, event.type, facts.status, {
        effects: [recordFinding('MEDIA_BUDGET_EXHAUSTED')],
      });
    case 'retention_over':
      return move(facts, event.type, 'EXPIRED', { effects: [CLOSE_HOLD] });
    case 'output_persisted':
      return move(facts, event.type, 'POST_PROCESSING', { effects: [{ kind: 'REQUEST_MEDIA' }] });
    case 'raw_corrupt':
      return event.mayRetry
        ? move(facts, event.type, 'OUTPUT_FETCHING', { effects: [{ kind: 'REQUEST_FETCH' }] })
        : move(facts, event.type, 'FAILED_FINAL', { effects: [CLOSE_HOLD] });
    case 'playable_asset_ready':
    case 'output_review_required':
      return move(facts, event.type, 'SUCCEEDED', { effects: [CLOSE_HOLD] });
    default:
      return assertNever(event, 'task event');
  }
};

/** Whether the event shows a job that an attempt which counted for nothing has after all, alive or complete. */
export const isAdoption = (attempt: AttemptFacts, event: TaskEvent): boolean => {
  if (event.type === 'job_observed') return isWorthAdopting(attempt, event);
  const binds = event.type === 'provider_accepted' || event.type === 'operator_bound';
  return binds && isWorthAdopting(attempt, SEEN_ALIVE);
};

const whyNotListed = (facts: TaskFacts, event: TaskEvent): IgnoreReason => {
  if (event.type === 'cancel_requested' && facts.status === 'CANCEL_REQUESTED') {
    return 'ALREADY_REQUESTED';
  }
  if (facts.status === 'OUTPUT_FETCHING' || facts.status === 'POST_PROCESSING') {
    return 'ALREADY_PAST';
  }
  return 'NOT_LISTED';
};

/** The last guard against a second submit: the table has no such road, but a row may have been edited. */
const decideClaimed = (facts: TaskFacts): Decision => {
  const { attempt } = facts;
  const isOver =
    attempt === null || !attempt.isCurrent || mayStandBeside(facts.status, attempt.status);
  return isOver
    ? move(facts, 'dispatch_claimed', 'DISPATCHING', { effects: [{ kind: 'REQUEST_DISPATCH' }] })
    : ignore('EARLIER_ATTEMPT_ALIVE');
};

const decideCancel = (facts: TaskFacts): Decision => {
  switch (facts.status) {
    case 'CREATED':
    case 'VALIDATING':
    case 'QUOTA_RESERVED':
      return move(facts, 'cancel_requested', 'CANCELED', {
        effects: [CLOSE_HOLD],
        cancelOutcome: 'BEFORE_SUBMIT',
      });
    case 'QUEUED':
    case 'RETRY_WAIT':
      return facts.earlierAttemptUnknown
        ? move(facts, 'cancel_requested', 'CANCEL_REQUESTED', {
            effects: [{ kind: 'REQUEST_RECONCILE' }],
          })
        : move(facts, 'cancel_requested', 'CANCELED', {
            effects: [CLOSE_HOLD],
            cancelOutcome: 'BEFORE_SUBMIT',
          });
    case 'SUBMITTED':
    case 'RUNNING':
      return move(facts, 'cancel_requested', 'CANCEL_REQUESTED', {
        effects: [{ kind: 'REQUEST_CANCEL' }],
      });
    case 'DISPATCHING':
      // The message of the dispatch is under way; the provider worker finds the cancel and ends it unsent.
      return move(facts, 'cancel_requested', 'CANCEL_REQUESTED');
    case 'SUBMIT_UNKNOWN':
      return move(facts, 'cancel_requested', 'CANCEL_REQUESTED', {
        effects: [{ kind: 'REQUEST_RECONCILE' }],
      });
    case 'OUTPUT_FETCHING':
    case 'POST_PROCESSING':
      return move(facts, 'cancel_requested', facts.status, { cancelOutcome: 'TOO_LATE' });
    case 'CANCEL_REQUESTED':
      return ignore('ALREADY_REQUESTED');
    case 'SUCCEEDED':
    case 'CANCELED':
    case 'FAILED_FINAL':
    case 'EXPIRED':
      return ignore('TERMINAL');
    default:
      return assertNever(facts.status, 'task status');
  }
};

/** Time ran out. A job that is simply alive is never ended here: the provider is asked to cancel it. */
const decideDeadline = (facts: TaskFacts): Decision => {
  switch (facts.status) {
    case 'VALIDATING':
    case 'QUEUED':
    case 'RETRY_WAIT':
      return move(facts, 'deadline_passed', 'EXPIRED', { effects: [CLOSE_HOLD] });
    case 'DISPATCHING':
      return move(facts, 'deadline_passed', 'CANCEL_REQUESTED');
    case 'SUBMITTED':
    case 'RUNNING':
      return move(facts, 'deadline_passed', 'CANCEL_REQUESTED', {
        effects: [{ kind: 'REQUEST_CANCEL' }],
      });
    case 'SUBMIT_UNKNOWN':
      return move(facts, 'deadline_passed', 'CANCEL_REQUESTED', {
        effects: [{ kind: 'REQUEST_RECONCILE' }],
      });
    case 'CANCEL_REQUESTED':
      return decideRecoveryOver(facts);
    case 'CREATED':
    case 'QUOTA_RESERVED':
    case 'OUTPUT_FETCHING':
    case 'POST_PROCESSING':
    case 'SUCCEEDED':
    case 'CANCELED':
    case 'FAILED_FINAL':
    case 'EXPIRED':
      return ignore('NOT_LISTED');
    default:
      return assertNever(facts.status, 'task status');
  }
};

/**
 * The provider never confirmed the cancel. A submit in doubt is given up for lost; a job that is
 * known keeps its slot and its watch, since it may still be running.
 */
const decideRecoveryOver = (facts: TaskFacts): Decision => {
  const status = facts.attempt?.isCurrent === true ? facts.attempt.status : null;
  const finding = recordFinding('COST_RISK_CANCEL_UNCONFIRMED');
  switch (status) {
    case 'NEW':
      return move(facts, 'deadline_passed', 'EXPIRED', {
        effects: [CLOSE_HOLD, FREE_SLOT],
        attemptTo: 'CANCELED',
        cancelOutcome: 'BEFORE_SUBMIT',
      });
    case 'SENDING':
      return move(facts, 'deadline_passed', 'EXPIRED', {
        effects: [finding, CLOSE_HOLD, { kind: 'REQUEST_RECONCILE' }],
        attemptTo: 'UNKNOWN',
      });
    case 'UNKNOWN':
      return move(facts, 'deadline_passed', 'EXPIRED', {
        effects: [finding, CLOSE_HOLD, FREE_SLOT],
        attemptTo: 'ABANDONED',
      });
    case 'ACKED':
    case 'RUNNING':
    case 'ABANDONED':
    case 'SUCCEEDED':
    case 'FAILED':
    case 'CANCELED':
    case 'FAILED_BEFORE_ACCEPT':
    case null:
      return move(facts, 'deadline_passed', 'EXPIRED', { effects: [finding, CLOSE_HOLD] });
    default:
      return assertNever(status, 'attempt status');
  }
};
