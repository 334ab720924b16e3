import { decide } from '../../../../src/domain/generation/decide';
import { readEvent, readFacts, readRows, writeDecision } from '../support/notation';

/** Each line is one row of the law and one test; the notation is explained in support/notation.ts. */
const follows = (title: string, table: string): void => {
  describe(title, () => {
    it.each(readRows(table))('$given | $when | $then', ({ given, when, then }) => {
      const event = readEvent(when);
      expect(writeDecision(decide(readFacts(given), event), event)).toBe(then);
    });
  });
};

follows(
  'before the queue',
  `
  CREATED         | validation_started | → VALIDATING
  VALIDATING      | validation_passed  | → QUOTA_RESERVED
  VALIDATING      | review_approved    | → QUOTA_RESERVED
  VALIDATING      | review_required    | → VALIDATING
  VALIDATING      | review_rejected    | → FAILED_FINAL, CLOSE_HOLD
  VALIDATING      | deadline_passed    | → EXPIRED, CLOSE_HOLD
  QUOTA_RESERVED  | queued             | → QUEUED, ANNOUNCE_QUEUED
  CREATED         | playable_asset_ready | ignored NOT_LISTED
  CREATED         | queued             | ignored NOT_LISTED
  `,
);

follows(
  'in the queue',
  `
  QUEUED                        | dispatch_claimed        | → DISPATCHING, REQUEST_DISPATCH
  QUEUED/FAILED_BEFORE_ACCEPT   | dispatch_claimed        | → DISPATCHING, REQUEST_DISPATCH
  QUEUED/ABANDONED earlier-unknown | dispatch_claimed     | → DISPATCHING, REQUEST_DISPATCH
  QUEUED/UNKNOWN                | dispatch_claimed        | ignored EARLIER_ATTEMPT_ALIVE
  QUEUED/RUNNING                | dispatch_claimed        | ignored EARLIER_ATTEMPT_ALIVE
  QUEUED                        | input_withdrawn         | → FAILED_FINAL, CLOSE_HOLD
  QUEUED                        | no_capable_model        | → FAILED_FINAL, CLOSE_HOLD
  QUEUED                        | submit_budget_exhausted | → FAILED_FINAL, CLOSE_HOLD
  QUEUED                        | deadline_passed         | → EXPIRED, CLOSE_HOLD
  RETRY_WAIT/FAILED             | retry_due               | → QUEUED, ANNOUNCE_QUEUED
  RETRY_WAIT/FAILED             | input_withdrawn         | → FAILED_FINAL, CLOSE_HOLD
  RETRY_WAIT/FAILED             | no_capable_model        | → FAILED_FINAL, CLOSE_HOLD
  RETRY_WAIT/FAILED             | submit_budget_exhausted | → FAILED_FINAL, CLOSE_HOLD
  RETRY_WAIT/FAILED             | deadline_passed         | → EXPIRED, CLOSE_HOLD
  RETRY_WAIT/FAILED             | dispatch_claimed        | ignored NOT_LISTED
  `,
);

follows(
  'a job of the last attempt turns up while the task waits for a new one',
  `
  QUEUED/ABANDONED     | observed QUEUED                | earlier_attempt_job_found → SUBMITTED, attempt ACKED
  QUEUED/ABANDONED     | observed RUNNING               | earlier_attempt_job_found → SUBMITTED provider_running → RUNNING, attempt RUNNING
  RETRY_WAIT/ABANDONED | observed SUCCEEDED with-output | earlier_attempt_job_found → SUBMITTED provider_succeeded → OUTPUT_FETCHING, attempt SUCCEEDED, REQUEST_FETCH, FREE_SLOT
  RETRY_WAIT/ABANDONED | observed FAILED may-retry      | earlier_attempt_job_found → SUBMITTED provider_failed → RETRY_WAIT, attempt FAILED, FREE_SLOT
  RETRY_WAIT/ABANDONED | observed FAILED                | earlier_attempt_job_found → SUBMITTED provider_failed → FAILED_FINAL, attempt FAILED, CLOSE_HOLD, FREE_SLOT
  QUEUED/ABANDONED     | provider_accepted              | earlier_attempt_job_found → SUBMITTED, attempt ACKED
  QUEUED/ABANDONED     | operator_bound                 | earlier_attempt_job_found → SUBMITTED, attempt ACKED
  QUEUED/ABANDONED     | confirmed_not_created          | ignored ALREADY_PAST, attempt FAILED_BEFORE_ACCEPT, FREE_SLOT
  QUEUED/FAILED        | observed FAILED                | ignored ALREADY_PAST
  QUEUED/FAILED_BEFORE_ACCEPT | observed QUEUED         | earlier_attempt_job_found → SUBMITTED, attempt ACKED
  QUEUED/FAILED_BEFORE_ACCEPT | observed RUNNING        | earlier_attempt_job_found → SUBMITTED provider_running → RUNNING, attempt RUNNING
  QUEUED/FAILED_BEFORE_ACCEPT | provider_accepted       | earlier_attempt_job_found → SUBMITTED, attempt ACKED
  QUEUED/FAILED_BEFORE_ACCEPT | submit_rejected charged | ignored ALREADY_PAST, attempt FAILED, FREE_SLOT
  QUEUED/FAILED_BEFORE_ACCEPT | submit_rejected         | ignored NO_NEWS
  QUEUED/FAILED_BEFORE_ACCEPT | observed FAILED         | earlier_attempt_job_found → SUBMITTED provider_failed → FAILED_FINAL, attempt FAILED, CLOSE_HOLD, FREE_SLOT
  RETRY_WAIT/FAILED_BEFORE_ACCEPT | observed SUCCEEDED with-output | earlier_attempt_job_found → SUBMITTED provider_succeeded → OUTPUT_FETCHING, attempt SUCCEEDED, REQUEST_FETCH, FREE_SLOT
  RETRY_WAIT/FAILED_BEFORE_ACCEPT | observed FAILED may-retry | earlier_attempt_job_found → SUBMITTED provider_failed → RETRY_WAIT, attempt FAILED, FREE_SLOT
  QUEUED/ABANDONED earlier | observed QUEUED             | earlier_attempt_job_found → SUBMITTED, attempt ACKED
  QUEUED/FAILED_BEFORE_ACCEPT earlier | observed RUNNING | earlier_attempt_job_found → SUBMITTED provider_running → RUNNING, attempt RUNNING
  RETRY_WAIT/ABANDONED earlier | observed FAILED          | ignored NOT_CURRENT_ATTEMPT, attempt FAILED, finding DUPLICATE_PROVIDER_JOB, FREE_SLOT
  QUEUED/CANCELED no-job  | observed RUNNING             | ignored NOT_LISTED, finding DUPLICATE_PROVIDER_JOB, REQUEST_CANCEL
  DISPATCHING/NEW         | never_sent                   | → RETRY_WAIT, attempt CANCELED, FREE_SLOT
  `,
);

follows(
  'while a submit is under way',
  `
  DISPATCHING/NEW     | lease_lost                        | → DISPATCHING, REQUEST_DISPATCH
  DISPATCHING/SENDING | lease_lost                        | → SUBMIT_UNKNOWN, attempt UNKNOWN, REQUEST_RECONCILE
  DISPATCHING/SENDING | provider_accepted                 | → SUBMITTED, attempt ACKED
  DISPATCHING/SENDING | submit_rejected may-retry         | → RETRY_WAIT, attempt FAILED_BEFORE_ACCEPT, FREE_SLOT
  DISPATCHING/SENDING | submit_rejected                   | → FAILED_FINAL, attempt FAILED_BEFORE_ACCEPT, CLOSE_HOLD, FREE_SLOT
  DISPATCHING/SENDING | submit_rejected charged           | → FAILED_FINAL, attempt FAILED, CLOSE_HOLD, FREE_SLOT
  DISPATCHING/SENDING | submit_rejected may-retry charged | → RETRY_WAIT, attempt FAILED, FREE_SLOT
  DISPATCHING/NEW     | submit_rejected may-retry         | → RETRY_WAIT, attempt FAILED_BEFORE_ACCEPT, FREE_SLOT
  DISPATCHING/SENDING | submit_ambiguous                  | → SUBMIT_UNKNOWN, attempt UNKNOWN, REQUEST_RECONCILE
  DISPATCHING/SENDING | observed QUEUED                   | provider_job_found → SUBMITTED, attempt ACKED
  DISPATCHING/SENDING | observed UNRECOGNIZED             | provider_job_found → SUBMITTED, attempt ACKED
  DISPATCHING/SENDING | observed RUNNING                  | provider_job_found → SUBMITTED provider_running → RUNNING, attempt RUNNING
  DISPATCHING/SENDING | observed SUCCEEDED with-output    | provider_job_found → SUBMITTED provider_succeeded → OUTPUT_FETCHING, attempt SUCCEEDED, REQUEST_FETCH, FREE_SLOT
  DISPATCHING/SENDING | observed CANCELED may-retry       | provider_job_found → SUBMITTED provider_canceled → RETRY_WAIT, attempt CANCELED, FREE_SLOT
  DISPATCHING/NEW     | observed RUNNING                  | ignored NOT_LISTED, finding DUPLICATE_PROVIDER_JOB, REQUEST_CANCEL
  DISPATCHING/SENDING | confirmed_not_created             | ignored NOT_LISTED
  DISPATCHING/SENDING | deadline_passed                   | → CANCEL_REQUESTED
  `,
);

follows(
  'when nobody knows whether the provider took the job',
  `
  SUBMIT_UNKNOWN/UNKNOWN | observed QUEUED                   | provider_job_found → SUBMITTED, attempt ACKED
  SUBMIT_UNKNOWN/UNKNOWN | observed RUNNING                  | provider_job_found → SUBMITTED provider_running → RUNNING, attempt RUNNING
  SUBMIT_UNKNOWN/UNKNOWN | observed SUCCEEDED with-output    | provider_job_found → SUBMITTED provider_succeeded → OUTPUT_FETCHING, attempt SUCCEEDED, REQUEST_FETCH, FREE_SLOT
  SUBMIT_UNKNOWN/UNKNOWN | observed FAILED                   | provider_job_found → SUBMITTED provider_failed → FAILED_FINAL, attempt FAILED, CLOSE_HOLD, FREE_SLOT
  SUBMIT_UNKNOWN/UNKNOWN | operator_bound                    | → SUBMITTED, attempt ACKED
  SUBMIT_UNKNOWN/UNKNOWN | confirmed_not_created             | → RETRY_WAIT, attempt FAILED_BEFORE_ACCEPT, FREE_SLOT
  SUBMIT_UNKNOWN/UNKNOWN | operator_declared_absent          | → RETRY_WAIT, attempt FAILED_BEFORE_ACCEPT, FREE_SLOT
  SUBMIT_UNKNOWN/UNKNOWN | undecidable_window_over           | → EXPIRED, attempt ABANDONED, finding COST_RISK_UNKNOWN_SUBMIT, CLOSE_HOLD, FREE_SLOT
  SUBMIT_UNKNOWN/UNKNOWN | undecidable_window_over by-policy | → RETRY_WAIT, attempt ABANDONED, finding COST_RISK_UNKNOWN_SUBMIT, FREE_SLOT
  SUBMIT_UNKNOWN/UNKNOWN | provider_accepted                 | → SUBMITTED, attempt ACKED
  SUBMIT_UNKNOWN/UNKNOWN | submit_rejected may-retry         | → RETRY_WAIT, attempt FAILED_BEFORE_ACCEPT, FREE_SLOT
  SUBMIT_UNKNOWN/UNKNOWN | submit_rejected                   | → FAILED_FINAL, attempt FAILED_BEFORE_ACCEPT, CLOSE_HOLD, FREE_SLOT
  SUBMIT_UNKNOWN/UNKNOWN | submit_ambiguous                  | ignored NOT_LISTED
  SUBMIT_UNKNOWN/UNKNOWN | dispatch_claimed                  | ignored NOT_LISTED
  SUBMIT_UNKNOWN/UNKNOWN | retry_due                         | ignored NOT_LISTED
  SUBMIT_UNKNOWN/UNKNOWN | deadline_passed                   | → CANCEL_REQUESTED, REQUEST_RECONCILE
  `,
);

follows(
  'while the provider works',
  `
  SUBMITTED/ACKED  | observed RUNNING               | provider_running → RUNNING, attempt RUNNING
  SUBMITTED/ACKED  | observed QUEUED                | ignored NO_NEWS
  SUBMITTED/ACKED  | observed UNRECOGNIZED          | ignored UNRECOGNIZED_STATUS, finding UNRECOGNIZED_STATUS
  SUBMITTED/ACKED  | observed SUCCEEDED with-output | provider_succeeded → OUTPUT_FETCHING, attempt SUCCEEDED, REQUEST_FETCH, FREE_SLOT
  SUBMITTED/ACKED  | observed FAILED may-retry      | provider_failed → RETRY_WAIT, attempt FAILED, FREE_SLOT
  SUBMITTED/ACKED  | observed FAILED                | provider_failed → FAILED_FINAL, attempt FAILED, CLOSE_HOLD, FREE_SLOT
  SUBMITTED/ACKED  | observed CANCELED may-retry    | provider_canceled → RETRY_WAIT, attempt CANCELED, FREE_SLOT
  SUBMITTED/ACKED  | observed CANCELED              | provider_canceled → FAILED_FINAL, attempt CANCELED, CLOSE_HOLD, FREE_SLOT
  SUBMITTED/ACKED  | deadline_passed                | → CANCEL_REQUESTED, REQUEST_CANCEL
  RUNNING/RUNNING  | observed RUNNING               | ignored NO_NEWS
  RUNNING/RUNNING  | observed QUEUED                | ignored NO_NEWS
  RUNNING/RUNNING  | observed SUCCEEDED with-output | provider_succeeded → OUTPUT_FETCHING, attempt SUCCEEDED, REQUEST_FETCH, FREE_SLOT
  RUNNING/RUNNING  | observed SUCCEEDED             | provider_failed → FAILED_FINAL, attempt FAILED, CLOSE_HOLD, FREE_SLOT
  RUNNING/RUNNING  | observed SUCCEEDED may-retry   | provider_failed → RETRY_WAIT, attempt FAILED, FREE_SLOT
  RUNNING/RUNNING  | observed FAILED may-retry      | provider_failed → RETRY_WAIT, attempt FAILED, FREE_SLOT
  RUNNING/RUNNING  | observed FAILED                | provider_failed → FAILED_FINAL, attempt FAILED, CLOSE_HOLD, FREE_SLOT
  RUNNING/RUNNING  | observed CANCELED              | provider_canceled → FAILED_FINAL, attempt CANCELED, CLOSE_HOLD, FREE_SLOT
  RUNNING/RUNNING  | deadline_passed                | → CANCEL_REQUESTED, REQUEST_CANCEL
  RUNNING/RUNNING  | cancel_confirmed               | ignored NOT_LISTED
  `,
);

follows(
  'the answer comes after a callback has bound the job',
  `
  SUBMITTED/ACKED           | provider_accepted           | ignored NO_NEWS
  RUNNING/RUNNING           | provider_accepted           | ignored NO_NEWS
  RUNNING/RUNNING           | provider_accepted other-job | ignored NO_NEWS, finding DUPLICATE_PROVIDER_JOB
  OUTPUT_FETCHING/SUCCEEDED | provider_accepted           | ignored NO_NEWS
  CANCEL_REQUESTED/RUNNING  | provider_accepted           | ignored NO_NEWS
  CANCEL_REQUESTED/ACKED    | submit_ambiguous            | ignored NO_NEWS
  CANCEL_REQUESTED/RUNNING  | submit_rejected             | ignored NO_NEWS
  SUBMITTED/ACKED           | submit_ambiguous            | ignored NOT_LISTED
  SUBMITTED/ACKED           | submit_rejected charged     | ignored NOT_LISTED
  SUBMITTED/ACKED           | operator_bound              | ignored NO_NEWS
  `,
);

follows(
  'fetching and processing the output',
  `
  OUTPUT_FETCHING/SUCCEEDED | step_retryable         | → OUTPUT_FETCHING, REQUEST_FETCH
  OUTPUT_FETCHING/SUCCEEDED | url_refreshed          | → OUTPUT_FETCHING, REQUEST_FETCH
  OUTPUT_FETCHING/SUCCEEDED | object_conflict        | → OUTPUT_FETCHING, finding OBJECT_CONFLICT
  OUTPUT_FETCHING/SUCCEEDED | output_unrecoverable   | → FAILED_FINAL, CLOSE_HOLD
  OUTPUT_FETCHING/SUCCEEDED | retention_over         | → EXPIRED, CLOSE_HOLD
  OUTPUT_FETCHING/SUCCEEDED | output_persisted       | → POST_PROCESSING, REQUEST_MEDIA
  OUTPUT_FETCHING/SUCCEEDED | observed RUNNING       | ignored ALREADY_PAST
  OUTPUT_FETCHING/SUCCEEDED | observed SUCCEEDED with-output | ignored ALREADY_PAST
  OUTPUT_FETCHING/SUCCEEDED | observed FAILED        | ignored ALREADY_PAST
  OUTPUT_FETCHING/SUCCEEDED | deadline_passed        | ignored ALREADY_PAST
  POST_PROCESSING/SUCCEEDED | step_retryable         | → POST_PROCESSING, REQUEST_MEDIA
  POST_PROCESSING/SUCCEEDED | raw_corrupt may-retry  | → OUTPUT_FETCHING, REQUEST_FETCH
  POST_PROCESSING/SUCCEEDED | raw_corrupt            | → FAILED_FINAL, CLOSE_HOLD
  POST_PROCESSING/SUCCEEDED | playable_asset_ready   | → SUCCEEDED, CLOSE_HOLD
  POST_PROCESSING/SUCCEEDED | output_review_required | → SUCCEEDED, CLOSE_HOLD
  POST_PROCESSING/SUCCEEDED | output_rejected        | → FAILED_FINAL, CLOSE_HOLD
  POST_PROCESSING/SUCCEEDED | media_budget_exhausted | → POST_PROCESSING, finding MEDIA_BUDGET_EXHAUSTED
  POST_PROCESSING/SUCCEEDED | media_window_over      | → FAILED_FINAL, CLOSE_HOLD
  SUCCEEDED/SUCCEEDED       | review_rejected        | → SUCCEEDED
  `,
);

follows(
  'a cancel is asked for',
  `
  CREATED                          | cancel_requested | → CANCELED, outcome BEFORE_SUBMIT, CLOSE_HOLD
  VALIDATING                       | cancel_requested | → CANCELED, outcome BEFORE_SUBMIT, CLOSE_HOLD
  QUOTA_RESERVED                   | cancel_requested | → CANCELED, outcome BEFORE_SUBMIT, CLOSE_HOLD
  QUEUED                           | cancel_requested | → CANCELED, outcome BEFORE_SUBMIT, CLOSE_HOLD
  RETRY_WAIT/FAILED                | cancel_requested | → CANCELED, outcome BEFORE_SUBMIT, CLOSE_HOLD
  QUEUED/ABANDONED earlier-unknown | cancel_requested | → CANCEL_REQUESTED, REQUEST_RECONCILE
  RETRY_WAIT/FAILED earlier-unknown | cancel_requested | → CANCEL_REQUESTED, REQUEST_RECONCILE
  DISPATCHING/NEW                  | cancel_requested | → CANCEL_REQUESTED
  DISPATCHING/SENDING              | cancel_requested | → CANCEL_REQUESTED
  SUBMITTED/ACKED                  | cancel_requested | → CANCEL_REQUESTED, REQUEST_CANCEL
  RUNNING/RUNNING                  | cancel_requested | → CANCEL_REQUESTED, REQUEST_CANCEL
  SUBMIT_UNKNOWN/UNKNOWN           | cancel_requested | → CANCEL_REQUESTED, REQUEST_RECONCILE
  OUTPUT_FETCHING/SUCCEEDED        | cancel_requested | → OUTPUT_FETCHING, outcome TOO_LATE
  POST_PROCESSING/SUCCEEDED        | cancel_requested | → POST_PROCESSING, outcome TOO_LATE
  CANCEL_REQUESTED/ACKED           | cancel_requested | ignored ALREADY_REQUESTED
  `,
);

follows(
  'a cancel is under way',
  `
  CANCEL_REQUESTED/SENDING   | provider_accepted              | → CANCEL_REQUESTED, attempt ACKED, REQUEST_CANCEL
  CANCEL_REQUESTED/UNKNOWN   | operator_bound                 | → CANCEL_REQUESTED, attempt ACKED, REQUEST_CANCEL
  CANCEL_REQUESTED/UNKNOWN   | observed QUEUED                | provider_job_found → CANCEL_REQUESTED, attempt ACKED, REQUEST_CANCEL
  CANCEL_REQUESTED/ABANDONED | observed RUNNING               | provider_job_found → CANCEL_REQUESTED, attempt RUNNING, REQUEST_CANCEL
  CANCEL_REQUESTED/SENDING   | submit_ambiguous               | → CANCEL_REQUESTED, attempt UNKNOWN, REQUEST_RECONCILE
  CANCEL_REQUESTED/SENDING   | lease_lost                     | → CANCEL_REQUESTED, attempt UNKNOWN, REQUEST_RECONCILE
  CANCEL_REQUESTED/FAILED_BEFORE_ACCEPT | observed RUNNING    | provider_job_found → CANCEL_REQUESTED, attempt RUNNING, REQUEST_CANCEL
  CANCEL_REQUESTED/FAILED_BEFORE_ACCEPT | provider_accepted   | → CANCEL_REQUESTED, attempt ACKED, REQUEST_CANCEL
  CANCEL_REQUESTED/FAILED_BEFORE_ACCEPT | observed FAILED     | ignored ALREADY_PAST, attempt FAILED, FREE_SLOT
  CANCEL_REQUESTED/FAILED_BEFORE_ACCEPT others-over | observed FAILED | provider_failed → CANCELED, attempt FAILED, outcome MOOT, CLOSE_HOLD, FREE_SLOT
  CANCEL_REQUESTED/NEW       | lease_lost                     | → CANCEL_REQUESTED, REQUEST_DISPATCH
  CANCEL_REQUESTED/ACKED     | lease_lost                     | ignored NO_NEWS
  CANCEL_REQUESTED/ACKED     | observed QUEUED                | ignored NO_NEWS
  CANCEL_REQUESTED/ACKED     | observed RUNNING               | ignored NO_NEWS, attempt RUNNING
  CANCEL_REQUESTED/ACKED     | observed UNRECOGNIZED          | ignored UNRECOGNIZED_STATUS, finding UNRECOGNIZED_STATUS
  CANCEL_REQUESTED/ACKED     | cancel_refused                 | → CANCEL_REQUESTED
  CANCEL_REQUESTED/RUNNING   | cancel_confirmed               | → CANCELED, attempt CANCELED, outcome CONFIRMED, CLOSE_HOLD, FREE_SLOT
  CANCEL_REQUESTED/RUNNING DEADLINE | cancel_confirmed        | → EXPIRED, attempt CANCELED, outcome CONFIRMED, CLOSE_HOLD, FREE_SLOT
  CANCEL_REQUESTED/RUNNING   | observed CANCELED              | cancel_confirmed → CANCELED, attempt CANCELED, outcome CONFIRMED, CLOSE_HOLD, FREE_SLOT
  CANCEL_REQUESTED/NEW       | never_sent                     | → CANCELED, attempt CANCELED, outcome BEFORE_SUBMIT, CLOSE_HOLD, FREE_SLOT
  CANCEL_REQUESTED/UNKNOWN   | never_sent                     | ignored NO_NEWS
  CANCEL_REQUESTED/SENDING   | submit_rejected may-retry      | → CANCELED, attempt FAILED_BEFORE_ACCEPT, outcome BEFORE_SUBMIT, CLOSE_HOLD, FREE_SLOT
  CANCEL_REQUESTED/UNKNOWN   | confirmed_not_created may-retry | → CANCELED, attempt FAILED_BEFORE_ACCEPT, outcome BEFORE_SUBMIT, CLOSE_HOLD, FREE_SLOT
  CANCEL_REQUESTED/SENDING   | confirmed_not_created          | ignored NO_NEWS
  CANCEL_REQUESTED/UNKNOWN   | operator_declared_absent       | → CANCELED, attempt FAILED_BEFORE_ACCEPT, outcome BEFORE_SUBMIT, CLOSE_HOLD, FREE_SLOT
  CANCEL_REQUESTED/RUNNING   | observed FAILED may-retry      | provider_failed → CANCELED, attempt FAILED, outcome MOOT, CLOSE_HOLD, FREE_SLOT
  CANCEL_REQUESTED/RUNNING   | observed SUCCEEDED             | provider_failed → CANCELED, attempt FAILED, outcome MOOT, CLOSE_HOLD, FREE_SLOT
  CANCEL_REQUESTED/RUNNING   | observed SUCCEEDED with-output | completion_won → OUTPUT_FETCHING, attempt SUCCEEDED, outcome TOO_LATE, REQUEST_FETCH, FREE_SLOT
  CANCEL_REQUESTED/UNKNOWN   | observed SUCCEEDED with-output | completion_won → OUTPUT_FETCHING, attempt SUCCEEDED, outcome TOO_LATE, REQUEST_FETCH, FREE_SLOT
  CANCEL_REQUESTED/FAILED    | observed FAILED                | ignored NO_NEWS
  CANCEL_REQUESTED/UNKNOWN   | undecidable_window_over        | → EXPIRED, attempt ABANDONED, finding COST_RISK_UNKNOWN_SUBMIT, CLOSE_HOLD, FREE_SLOT
  CANCEL_REQUESTED/UNKNOWN   | undecidable_window_over by-policy | → EXPIRED, attempt ABANDONED, finding COST_RISK_UNKNOWN_SUBMIT, CLOSE_HOLD, FREE_SLOT
  `,
);

follows(
  'a cancel is never confirmed',
  `
  CANCEL_REQUESTED/NEW       | deadline_passed | → EXPIRED, attempt CANCELED, outcome BEFORE_SUBMIT, CLOSE_HOLD, FREE_SLOT
  CANCEL_REQUESTED/SENDING   | deadline_passed | → EXPIRED, attempt UNKNOWN, finding COST_RISK_CANCEL_UNCONFIRMED, CLOSE_HOLD, REQUEST_RECONCILE
  CANCEL_REQUESTED/UNKNOWN   | deadline_passed | → EXPIRED, attempt ABANDONED, finding COST_RISK_CANCEL_UNCONFIRMED, CLOSE_HOLD, FREE_SLOT
  CANCEL_REQUESTED/RUNNING   | deadline_passed | → EXPIRED, finding COST_RISK_CANCEL_UNCONFIRMED, CLOSE_HOLD
  CANCEL_REQUESTED/ABANDONED | deadline_passed | → EXPIRED, finding COST_RISK_CANCEL_UNCONFIRMED, CLOSE_HOLD
  `,
);

follows(
  'news of an attempt that a newer one replaced',
  `
  DISPATCHING/ABANDONED earlier     | observed RUNNING               | earlier_attempt_job_found → DISPATCHING, attempt RUNNING, finding DUPLICATE_PROVIDER_JOB, REQUEST_CANCEL
  SUBMIT_UNKNOWN/ABANDONED earlier  | observed QUEUED                | earlier_attempt_job_found → SUBMIT_UNKNOWN, attempt ACKED, finding DUPLICATE_PROVIDER_JOB, REQUEST_CANCEL
  SUBMITTED/ABANDONED earlier       | observed SUCCEEDED with-output | earlier_attempt_job_found → SUBMITTED, attempt SUCCEEDED, finding DUPLICATE_PROVIDER_JOB, FREE_SLOT
  RUNNING/ABANDONED earlier         | provider_accepted              | earlier_attempt_job_found → RUNNING, attempt ACKED, finding DUPLICATE_PROVIDER_JOB, REQUEST_CANCEL
  CANCEL_REQUESTED/ABANDONED earlier | observed QUEUED               | earlier_attempt_job_found → CANCEL_REQUESTED, attempt ACKED, finding DUPLICATE_PROVIDER_JOB, REQUEST_CANCEL
  OUTPUT_FETCHING/ABANDONED earlier | observed QUEUED                | earlier_attempt_job_found → OUTPUT_FETCHING, attempt ACKED, finding DUPLICATE_PROVIDER_JOB, REQUEST_CANCEL
  POST_PROCESSING/ABANDONED earlier | observed QUEUED                | earlier_attempt_job_found → POST_PROCESSING, attempt ACKED, finding DUPLICATE_PROVIDER_JOB, REQUEST_CANCEL
  DISPATCHING/FAILED_BEFORE_ACCEPT earlier | observed QUEUED         | earlier_attempt_job_found → DISPATCHING, attempt ACKED, finding DUPLICATE_PROVIDER_JOB, REQUEST_CANCEL
  RUNNING/FAILED_BEFORE_ACCEPT earlier | observed SUCCEEDED with-output | earlier_attempt_job_found → RUNNING, attempt SUCCEEDED, finding DUPLICATE_PROVIDER_JOB, FREE_SLOT
  SUBMIT_UNKNOWN/ABANDONED earlier  | confirmed_not_created          | ignored NOT_CURRENT_ATTEMPT, attempt FAILED_BEFORE_ACCEPT, FREE_SLOT
  DISPATCHING/ABANDONED earlier     | submit_rejected may-retry      | ignored NOT_CURRENT_ATTEMPT, attempt FAILED_BEFORE_ACCEPT, FREE_SLOT
  CANCEL_REQUESTED/RUNNING earlier  | cancel_confirmed               | ignored NOT_CURRENT_ATTEMPT, attempt CANCELED, FREE_SLOT
  RUNNING/FAILED earlier            | observed FAILED                | ignored NOT_CURRENT_ATTEMPT
  CANCEL_REQUESTED/ABANDONED earlier | confirmed_not_created         | ignored NOT_CURRENT_ATTEMPT, attempt FAILED_BEFORE_ACCEPT, FREE_SLOT
  CANCEL_REQUESTED/ABANDONED earlier others-over | confirmed_not_created | → CANCELED, attempt FAILED_BEFORE_ACCEPT, outcome BEFORE_SUBMIT, CLOSE_HOLD, FREE_SLOT
  CANCEL_REQUESTED/RUNNING earlier others-over | cancel_confirmed    | → CANCELED, attempt CANCELED, outcome CONFIRMED, CLOSE_HOLD, FREE_SLOT
  CANCEL_REQUESTED/RUNNING earlier others-over | observed FAILED     | provider_failed → CANCELED, attempt FAILED, outcome MOOT, CLOSE_HOLD, FREE_SLOT
  CANCEL_REQUESTED/ACKED earlier others-over | observed CANCELED      | cancel_confirmed → CANCELED, attempt CANCELED, outcome CONFIRMED, CLOSE_HOLD, FREE_SLOT
  CANCEL_REQUESTED/ABANDONED earlier others-over | observed SUCCEEDED with-output | earlier_attempt_job_found → CANCEL_REQUESTED, attempt SUCCEEDED, finding DUPLICATE_PROVIDER_JOB, FREE_SLOT
  SUBMIT_UNKNOWN/ABANDONED earlier others-over | confirmed_not_created | ignored NOT_CURRENT_ATTEMPT, attempt FAILED_BEFORE_ACCEPT, FREE_SLOT
  `,
);

follows(
  'terminals are sticky, and facts that come later are kept',
  `
  CANCELED/CANCELED      | observed RUNNING               | ignored TERMINAL
  CANCELED/CANCELED      | observed SUCCEEDED with-output | ignored TERMINAL, finding LATE_RESULT
  CANCELED               | cancel_requested               | ignored TERMINAL
  SUCCEEDED/SUCCEEDED    | cancel_requested               | ignored TERMINAL
  SUCCEEDED/SUCCEEDED    | deadline_passed                | ignored TERMINAL
  FAILED_FINAL/FAILED    | review_rejected                | ignored TERMINAL
  FAILED_FINAL/FAILED    | retry_due                      | ignored TERMINAL
  EXPIRED/ABANDONED      | observed SUCCEEDED with-output | ignored TERMINAL, attempt SUCCEEDED, FREE_SLOT, finding LATE_RESULT
  EXPIRED/RUNNING        | observed SUCCEEDED with-output | ignored TERMINAL, attempt SUCCEEDED, FREE_SLOT, finding LATE_RESULT
  EXPIRED/ABANDONED      | observed RUNNING               | ignored TERMINAL, attempt RUNNING, REQUEST_CANCEL
  EXPIRED/ABANDONED      | provider_accepted              | ignored TERMINAL, attempt ACKED, REQUEST_CANCEL
  EXPIRED/ABANDONED      | submit_rejected                | ignored TERMINAL, attempt FAILED_BEFORE_ACCEPT, FREE_SLOT
  EXPIRED/ABANDONED      | submit_rejected charged        | ignored TERMINAL, attempt FAILED, FREE_SLOT
  EXPIRED/RUNNING        | observed FAILED                | ignored TERMINAL, attempt FAILED, FREE_SLOT
  EXPIRED/RUNNING        | cancel_confirmed               | ignored TERMINAL, attempt CANCELED, FREE_SLOT
  EXPIRED/UNKNOWN        | confirmed_not_created          | ignored TERMINAL, attempt FAILED_BEFORE_ACCEPT, FREE_SLOT
  EXPIRED/UNKNOWN        | undecidable_window_over        | ignored TERMINAL, attempt ABANDONED, finding COST_RISK_UNKNOWN_SUBMIT, FREE_SLOT
  SUCCEEDED/ABANDONED earlier | observed SUCCEEDED with-output | ignored TERMINAL, attempt SUCCEEDED, FREE_SLOT, finding LATE_RESULT
  FAILED_FINAL/FAILED_BEFORE_ACCEPT | observed RUNNING    | ignored TERMINAL, attempt RUNNING, finding COST_RISK_UNKNOWN_SUBMIT, REQUEST_CANCEL
  CANCELED/FAILED_BEFORE_ACCEPT | observed SUCCEEDED with-output | ignored TERMINAL, attempt SUCCEEDED, FREE_SLOT, finding COST_RISK_UNKNOWN_SUBMIT, finding LATE_RESULT
  EXPIRED/FAILED_BEFORE_ACCEPT  | provider_accepted       | ignored TERMINAL, attempt ACKED, finding COST_RISK_UNKNOWN_SUBMIT, REQUEST_CANCEL
  CANCELED/FAILED_BEFORE_ACCEPT | submit_rejected charged | ignored TERMINAL, attempt FAILED, FREE_SLOT
  `,
);
