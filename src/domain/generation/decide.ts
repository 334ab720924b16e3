import type { AttemptStatus } from '../attempt/statuses';
import { assertNever } from '../kernel/assert-never';
import { decideObservation } from './decide-observation';
import {
  canceledOrExpired,
  CLOSE_HOLD,
  FREE_SLOT,
  ignore,
  move,
  type Decision,
  type Effect,
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
  if (isTerminal(facts.status)) {
    return event.type === 'review_rejected'
      ? move(facts, 'review_rejected', facts.status)
      : ignore('TERMINAL');
  }
  if (targetsOf(facts.status, event.type).length === 0) return ignore(whyNotListed(facts, event));
  switch (event.type) {
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
      return move(facts, event.type, 'QUEUED', { effects: [{ kind: 'ANNOUNCE_QUEUED' }] });
    case 'retry_due':
      return move(facts, event.type, 'QUEUED', { effects: [{ kind: 'ANNOUNCE_QUEUED' }] });
    case 'dispatch_claimed':
      return move(facts, event.type, 'DISPATCHING', { effects: [{ kind: 'REQUEST_DISPATCH' }] });
    case 'lease_lost':
      return decideLeaseLost(facts);
    case 'provider_accepted':
    case 'operator_bound':
      return decideBound(facts, event.type);
    case 'submit_ambiguous':
      return decideAmbiguous(facts);
    case 'submit_rejected':
      return decideNotCreated(facts, event.type, event.mayRetry, event.charged);
    case 'confirmed_not_created':
    case 'operator_declared_absent':
      return decideNotCreated(facts, event.type, event.mayRetry, false);
    case 'undecidable_window_over':
      return decideUndecidable(facts, event.retryByPolicy);
    case 'never_sent':
      return move(facts, event.type, canceledOrExpired(facts), {
        effects: [CLOSE_HOLD, FREE_SLOT],
        attemptTo: 'CANCELED',
        cancelOutcome: 'BEFORE_SUBMIT',
      });
    case 'cancel_requested':
      return decideCancel(facts);
    case 'cancel_refused':
      return move(facts, event.type, facts.status);
    case 'cancel_confirmed':
      return move(facts, event.type, canceledOrExpired(facts), {
        effects: [CLOSE_HOLD, FREE_SLOT],
        attemptTo: 'CANCELED',
        cancelOutcome: 'CONFIRMED',
      });
    case 'deadline_passed':
      return decideDeadline(facts);
    case 'step_retryable':
    case 'url_refreshed':
      return move(facts, event.type, facts.status, {
        effects: [{ kind: facts.status === 'OUTPUT_FETCHING' ? 'REQUEST_FETCH' : 'REQUEST_MEDIA' }],
      });
    case 'object_conflict':
      return move(facts, event.type, facts.status, {
        effects: [{ kind: 'RECORD_FINDING', finding: 'OBJECT_CONFLICT' }],
      });
    case 'media_budget_exhausted':
      return move(facts, event.type, facts.status, {
        effects: [{ kind: 'RECORD_FINDING', finding: 'MEDIA_BUDGET_EXHAUSTED' }],
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

const whyNotListed = (facts: TaskFacts, event: TaskEvent): IgnoreReason => {
  if (event.type === 'cancel_requested' && facts.status === 'CANCEL_REQUESTED') {
    return 'ALREADY_REQUESTED';
  }
  if (facts.status === 'OUTPUT_FETCHING' || facts.status === 'POST_PROCESSING') {
    return 'ALREADY_PAST';
  }
  return 'NOT_LISTED';
};

/** A worker died while it held the attempt. Whether bytes left is known only by NEW or SENDING. */
const decideLeaseLost = (facts: TaskFacts): Decision => {
  const sending = facts.attempt?.status === 'SENDING';
  if (facts.status === 'CANCEL_REQUESTED') {
    return move(facts, 'lease_lost', 'CANCEL_REQUESTED', {
      effects: [{ kind: sending ? 'REQUEST_RECONCILE' : 'REQUEST_DISPATCH' }],
      attemptTo: sending ? 'UNKNOWN' : null,
    });
  }
  return sending
    ? move(facts, 'lease_lost', 'SUBMIT_UNKNOWN', {
        effects: [{ kind: 'REQUEST_RECONCILE' }],
        attemptTo: 'UNKNOWN',
      })
    : move(facts, 'lease_lost', 'DISPATCHING', { effects: [{ kind: 'REQUEST_DISPATCH' }] });
};

const decideBound = (facts: TaskFacts, event: 'provider_accepted' | 'operator_bound'): Decision =>
  facts.status === 'CANCEL_REQUESTED'
    ? move(facts, event, 'CANCEL_REQUESTED', {
        effects: [{ kind: 'REQUEST_CANCEL' }],
        attemptTo: 'ACKED',
      })
    : move(facts, event, 'SUBMITTED', { attemptTo: 'ACKED' });

const decideAmbiguous = (facts: TaskFacts): Decision =>
  move(
    facts,
    'submit_ambiguous',
    facts.status === 'CANCEL_REQUESTED' ? 'CANCEL_REQUESTED' : 'SUBMIT_UNKNOWN',
    { effects: [{ kind: 'REQUEST_RECONCILE' }], attemptTo: 'UNKNOWN' },
  );

/** The provider created nothing (or refused and, rarely, charged for the refusal). */
const decideNotCreated = (
  facts: TaskFacts,
  event: 'submit_rejected' | 'confirmed_not_created' | 'operator_declared_absent',
  mayRetry: boolean,
  charged: boolean,
): Decision => {
  const attemptTo: AttemptStatus = charged ? 'FAILED' : 'FAILED_BEFORE_ACCEPT';
  if (facts.status === 'CANCEL_REQUESTED') {
    return move(facts, event, canceledOrExpired(facts), {
      effects: [CLOSE_HOLD, FREE_SLOT],
      attemptTo,
      cancelOutcome: 'BEFORE_SUBMIT',
    });
  }
  // A confirmed absence always allows the next attempt; whether the budget does is judged at dispatch.
  if (mayRetry || event !== 'submit_rejected') {
    return move(facts, event, 'RETRY_WAIT', { effects: [FREE_SLOT], attemptTo });
  }
  return move(facts, event, 'FAILED_FINAL', { effects: [CLOSE_HOLD, FREE_SLOT], attemptTo });
};

const decideUndecidable = (facts: TaskFacts, retryByPolicy: boolean): Decision => {
  const finding: Effect = { kind: 'RECORD_FINDING', finding: 'COST_RISK_UNKNOWN_SUBMIT' };
  if (retryByPolicy && facts.status === 'SUBMIT_UNKNOWN') {
    return move(facts, 'undecidable_window_over', 'RETRY_WAIT', {
      effects: [finding],
      attemptTo: 'ABANDONED',
    });
  }
  return move(facts, 'undecidable_window_over', 'EXPIRED', {
    effects: [finding, CLOSE_HOLD, FREE_SLOT],
    attemptTo: 'ABANDONED',
  });
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
      return move(facts, 'deadline_passed', 'EXPIRED', {
        effects: [
          { kind: 'RECORD_FINDING', finding: 'COST_RISK_CANCEL_UNCONFIRMED' },
          CLOSE_HOLD,
          FREE_SLOT,
        ],
        attemptTo: facts.attempt?.status === 'UNKNOWN' ? 'ABANDONED' : null,
      });
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
