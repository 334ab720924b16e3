import type { TaskStatus } from './statuses';

/**
 * The law of a generation: from each status, the events that may happen and the statuses they may
 * lead to. `decide` chooses among the targets; the database refuses any pair not derived from here
 * (`TASK_STATUS_PAIRS`, migration `task_status_pairs`); the chart in ARCHITECTURE.md is generated from it.
 *
 * A target equal to its source is a transition too: it raises the version and is recorded.
 * What is not listed is ignored or refused, and recorded with the reason.
 */
export const TASK_EVENTS = [
  'validation_started',
  'validation_passed',
  'review_required',
  'review_approved',
  'review_rejected',
  'queued',
  'dispatch_claimed',
  'input_withdrawn',
  'no_capable_model',
  'submit_budget_exhausted',
  'earlier_attempt_job_found',
  'lease_lost',
  'provider_accepted',
  'submit_rejected',
  'submit_ambiguous',
  'provider_job_found',
  'operator_bound',
  'confirmed_not_created',
  'operator_declared_absent',
  'undecidable_window_over',
  'provider_running',
  'provider_succeeded',
  'provider_failed',
  'provider_canceled',
  'deadline_passed',
  'retry_due',
  'cancel_requested',
  'cancel_refused',
  'cancel_confirmed',
  'never_sent',
  'completion_won',
  'step_retryable',
  'url_refreshed',
  'object_conflict',
  'output_unrecoverable',
  'retention_over',
  'output_persisted',
  'raw_corrupt',
  'playable_asset_ready',
  'output_review_required',
  'output_rejected',
  'media_budget_exhausted',
  'media_window_over',
] as const;
export type TaskEventType = (typeof TASK_EVENTS)[number];

type Row = Partial<Record<TaskEventType, readonly [TaskStatus, ...TaskStatus[]]>>;

export const TASK_TRANSITIONS = {
  CREATED: {
    validation_started: ['VALIDATING'],
    cancel_requested: ['CANCELED'],
  },
  VALIDATING: {
    validation_passed: ['QUOTA_RESERVED'],
    review_required: ['VALIDATING'],
    review_approved: ['QUOTA_RESERVED'],
    review_rejected: ['FAILED_FINAL'],
    cancel_requested: ['CANCELED'],
    deadline_passed: ['EXPIRED'],
  },
  QUOTA_RESERVED: {
    queued: ['QUEUED'],
    cancel_requested: ['CANCELED'],
  },
  QUEUED: {
    dispatch_claimed: ['DISPATCHING'],
    input_withdrawn: ['FAILED_FINAL'],
    no_capable_model: ['FAILED_FINAL'],
    submit_budget_exhausted: ['FAILED_FINAL'],
    earlier_attempt_job_found: ['SUBMITTED'],
    cancel_requested: ['CANCELED', 'CANCEL_REQUESTED'],
    deadline_passed: ['EXPIRED'],
  },
  DISPATCHING: {
    lease_lost: ['DISPATCHING', 'SUBMIT_UNKNOWN'],
    provider_accepted: ['SUBMITTED'],
    provider_job_found: ['SUBMITTED'],
    submit_rejected: ['RETRY_WAIT', 'FAILED_FINAL'],
    submit_ambiguous: ['SUBMIT_UNKNOWN'],
    cancel_requested: ['CANCEL_REQUESTED'],
    deadline_passed: ['CANCEL_REQUESTED'],
    // The newer attempt had not left: it is withdrawn, and the job that was found is adopted.
    never_sent: ['RETRY_WAIT'],
    earlier_attempt_job_found: ['DISPATCHING'],
  },
  SUBMIT_UNKNOWN: {
    provider_accepted: ['SUBMITTED'],
    provider_job_found: ['SUBMITTED'],
    operator_bound: ['SUBMITTED'],
    submit_rejected: ['RETRY_WAIT', 'FAILED_FINAL'],
    confirmed_not_created: ['RETRY_WAIT'],
    operator_declared_absent: ['RETRY_WAIT'],
    undecidable_window_over: ['EXPIRED', 'RETRY_WAIT'],
    cancel_requested: ['CANCEL_REQUESTED'],
    deadline_passed: ['CANCEL_REQUESTED'],
    earlier_attempt_job_found: ['SUBMIT_UNKNOWN'],
  },
  SUBMITTED: {
    provider_running: ['RUNNING'],
    provider_succeeded: ['OUTPUT_FETCHING'],
    provider_failed: ['RETRY_WAIT', 'FAILED_FINAL'],
    provider_canceled: ['RETRY_WAIT', 'FAILED_FINAL'],
    cancel_requested: ['CANCEL_REQUESTED'],
    deadline_passed: ['CANCEL_REQUESTED'],
    earlier_attempt_job_found: ['SUBMITTED'],
  },
  RUNNING: {
    provider_succeeded: ['OUTPUT_FETCHING'],
    provider_failed: ['RETRY_WAIT', 'FAILED_FINAL'],
    provider_canceled: ['RETRY_WAIT', 'FAILED_FINAL'],
    cancel_requested: ['CANCEL_REQUESTED'],
    deadline_passed: ['CANCEL_REQUESTED'],
    earlier_attempt_job_found: ['RUNNING'],
  },
  RETRY_WAIT: {
    retry_due: ['QUEUED'],
    input_withdrawn: ['FAILED_FINAL'],
    no_capable_model: ['FAILED_FINAL'],
    submit_budget_exhausted: ['FAILED_FINAL'],
    earlier_attempt_job_found: ['SUBMITTED'],
    cancel_requested: ['CANCELED', 'CANCEL_REQUESTED'],
    deadline_passed: ['EXPIRED'],
  },
  CANCEL_REQUESTED: {
    provider_accepted: ['CANCEL_REQUESTED'],
    provider_job_found: ['CANCEL_REQUESTED'],
    operator_bound: ['CANCEL_REQUESTED'],
    earlier_attempt_job_found: ['CANCEL_REQUESTED'],
    submit_ambiguous: ['CANCEL_REQUESTED'],
    lease_lost: ['CANCEL_REQUESTED'],
    cancel_refused: ['CANCEL_REQUESTED'],
    cancel_confirmed: ['CANCELED', 'EXPIRED'],
    never_sent: ['CANCELED', 'EXPIRED'],
    submit_rejected: ['CANCELED', 'EXPIRED'],
    confirmed_not_created: ['CANCELED', 'EXPIRED'],
    operator_declared_absent: ['CANCELED', 'EXPIRED'],
    provider_failed: ['CANCELED', 'EXPIRED'],
    completion_won: ['OUTPUT_FETCHING'],
    deadline_passed: ['EXPIRED'],
    undecidable_window_over: ['EXPIRED'],
  },
  OUTPUT_FETCHING: {
    step_retryable: ['OUTPUT_FETCHING'],
    url_refreshed: ['OUTPUT_FETCHING'],
    object_conflict: ['OUTPUT_FETCHING'],
    output_unrecoverable: ['FAILED_FINAL'],
    retention_over: ['EXPIRED'],
    output_persisted: ['POST_PROCESSING'],
    cancel_requested: ['OUTPUT_FETCHING'],
    earlier_attempt_job_found: ['OUTPUT_FETCHING'],
  },
  POST_PROCESSING: {
    step_retryable: ['POST_PROCESSING'],
    raw_corrupt: ['OUTPUT_FETCHING', 'FAILED_FINAL'],
    playable_asset_ready: ['SUCCEEDED'],
    output_review_required: ['SUCCEEDED'],
    output_rejected: ['FAILED_FINAL'],
    media_budget_exhausted: ['POST_PROCESSING'],
    media_window_over: ['FAILED_FINAL'],
    cancel_requested: ['POST_PROCESSING'],
    earlier_attempt_job_found: ['POST_PROCESSING'],
  },
  SUCCEEDED: {
    review_rejected: ['SUCCEEDED'],
  },
  CANCELED: {},
  FAILED_FINAL: {},
  EXPIRED: {},
} as const satisfies Record<TaskStatus, Row>;

/** The statuses that `event` may lead to from `from`; empty when the law does not know the event there. */
export const targetsOf = (from: TaskStatus, event: TaskEventType): readonly TaskStatus[] =>
  (TASK_TRANSITIONS[from] as Row)[event] ?? [];

/** Every (from, to) pair the law allows, sorted; the database's trigger holds exactly these. */
export const TASK_STATUS_PAIRS: readonly (readonly [TaskStatus, TaskStatus])[] = (
  Object.entries(TASK_TRANSITIONS) as [TaskStatus, Row][]
)
  .flatMap(([from, row]) =>
    [...new Set(Object.values(row).flat())].map((to) => [from, to] as const),
  )
  .sort(([a, b], [c, d]) => (a + b < c + d ? -1 : 1));
