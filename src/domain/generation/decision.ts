import type { AttemptStatus } from '../attempt/statuses';
import type { JobStatus } from '../provider/vocabulary';
import type { CancelOutcomeWord, CancelReason, TaskStatus } from './statuses';
import { targetsOf, type TaskEventType } from './transitions';

/** What a decision needs to know of a task; no I/O, no clock. */
export interface TaskFacts {
  readonly status: TaskStatus;
  readonly version: number;
  readonly cancelReason: CancelReason | null;
  /** The attempt in whose name the event speaks, or the current one. */
  readonly attempt: AttemptFacts | null;
  /** An earlier attempt may still have a living job (UNKNOWN, or ABANDONED and watched). */
  readonly earlierAttemptUnknown: boolean;
  /**
   * No attempt but the one in `attempt` can have a living job. Read only when a cancel waits for an
   * attempt that is not the newest: its end is then the end of the task.
   */
  readonly othersAreOver?: boolean;
}

export interface AttemptFacts {
  readonly status: AttemptStatus;
  readonly hasJob: boolean;
  readonly isCurrent: boolean;
}

/** An event about a task, from whoever saw it. */
export type TaskEvent =
  | { readonly type: 'validation_started' }
  | { readonly type: 'review_required' | 'review_approved' | 'review_rejected' }
  | { readonly type: 'validation_passed' | 'queued' | 'dispatch_claimed' | 'retry_due' }
  | { readonly type: 'input_withdrawn' | 'no_capable_model' | 'submit_budget_exhausted' }
  | { readonly type: 'lease_lost' | 'submit_ambiguous' | 'never_sent' }
  | {
      readonly type: 'provider_accepted';
      /** The attempt is bound to another job already: the provider has made two. */
      readonly otherJob?: boolean;
    }
  | { readonly type: 'submit_rejected'; readonly mayRetry: boolean; readonly charged: boolean }
  | {
      readonly type: 'confirmed_not_created' | 'operator_declared_absent';
      readonly mayRetry: boolean;
    }
  | { readonly type: 'operator_bound' }
  | { readonly type: 'undecidable_window_over'; readonly retryByPolicy: boolean }
  | { readonly type: 'cancel_requested'; readonly reason: CancelReason }
  | { readonly type: 'cancel_refused' }
  | { readonly type: 'cancel_confirmed' }
  | { readonly type: 'deadline_passed' }
  | { readonly type: 'step_retryable' | 'url_refreshed' | 'object_conflict' }
  | { readonly type: 'output_unrecoverable' | 'retention_over' | 'output_persisted' }
  | { readonly type: 'raw_corrupt'; readonly mayRetry: boolean }
  | { readonly type: 'playable_asset_ready' | 'output_review_required' | 'output_rejected' }
  | { readonly type: 'media_budget_exhausted' | 'media_window_over' }
  | {
      readonly type: 'job_observed';
      readonly job: JobStatus;
      readonly hasOutputs: boolean;
      /** The failure's class allows another generation, and quote and budget do too. */
      readonly mayRetry: boolean;
    };

/**
 * What must happen with a transition, in its transaction (money, messages) or right after it (slots).
 * Opening the hold is none of these: it may be refused, so it comes before the step to QUOTA_RESERVED.
 */
export type Effect =
  | { readonly kind: 'CLOSE_HOLD' }
  | { readonly kind: 'REQUEST_DISPATCH' }
  | { readonly kind: 'REQUEST_CANCEL' }
  | { readonly kind: 'REQUEST_RECONCILE' }
  | { readonly kind: 'REQUEST_FETCH' }
  | { readonly kind: 'REQUEST_MEDIA' }
  | { readonly kind: 'ANNOUNCE_QUEUED' }
  | { readonly kind: 'FREE_SLOT' }
  | { readonly kind: 'RECORD_FINDING'; readonly finding: FindingKind };

export const FINDING_KINDS = [
  'COST_RISK_UNKNOWN_SUBMIT',
  'COST_RISK_CANCEL_UNCONFIRMED',
  'DUPLICATE_PROVIDER_JOB',
  'LATE_RESULT',
  'LATE_COST',
  'OBJECT_CONFLICT',
  'UNRECOGNIZED_STATUS',
  'MEDIA_BUDGET_EXHAUSTED',
  'STUCK_TASK',
  'ORPHAN_PROVIDER_EVENT',
  'SLOT_DRIFT',
  'STALE_UPLOAD',
  'LEDGER_MISMATCH',
  'RELAY_LAG',
  'COST_CONFLICT',
  'COST_WITHOUT_RATE',
  'UNBALANCED_HOLD',
  'INVOICE_PRICE_DIFFERENCE',
  'INVOICE_DUPLICATE',
  'INVOICE_ORPHAN',
  'INVOICE_LATE',
  'INVOICE_UNCHARGED_SUCCESS',
  'LOST_MESSAGE',
  'ORPHAN_OBJECT',
  'UNTRACKED_PROVIDER_JOB',
] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

/** One row of a task's history. Two steps in one decision are two versions in one transaction. */
export interface Step {
  readonly event: TaskEventType;
  readonly to: TaskStatus;
}

export type Decision =
  | {
      readonly kind: 'MOVE';
      readonly steps: readonly [Step, ...Step[]];
      readonly effects: readonly Effect[];
      readonly attemptTo: AttemptStatus | null;
      readonly cancelOutcome: CancelOutcomeWord | null;
    }
  | {
      readonly kind: 'IGNORE';
      readonly reason: IgnoreReason;
      readonly effects: readonly Effect[];
      readonly attemptTo: AttemptStatus | null;
    };

export type IgnoreReason =
  | 'TERMINAL'
  | 'NOT_LISTED'
  | 'NO_NEWS'
  | 'UNRECOGNIZED_STATUS'
  | 'ALREADY_REQUESTED'
  | 'ALREADY_PAST'
  | 'NOT_CURRENT_ATTEMPT'
  | 'EARLIER_ATTEMPT_ALIVE';

interface MoveExtras {
  readonly effects?: readonly Effect[];
  readonly attemptTo?: AttemptStatus | null;
  readonly cancelOutcome?: CancelOutcomeWord | null;
}

export const CLOSE_HOLD: Effect = { kind: 'CLOSE_HOLD' };
export const FREE_SLOT: Effect = { kind: 'FREE_SLOT' };
export const recordFinding = (finding: FindingKind): Effect => ({
  kind: 'RECORD_FINDING',
  finding,
});

export const move = (
  facts: TaskFacts,
  event: TaskEventType,
  to: TaskStatus,
  extras: MoveExtras = {},
): Decision => moveSteps(facts, [{ event, to }], extras);

export const moveSteps = (
  facts: TaskFacts,
  steps: readonly [Step, ...Step[]],
  extras: MoveExtras = {},
): Decision => {
  let at = facts.status;
  for (const step of steps) {
    // A target outside the table is a defect of this file; refusing it here keeps the law single.
    if (!targetsOf(at, step.event).includes(step.to)) return ignore('NOT_LISTED');
    at = step.to;
  }
  return {
    kind: 'MOVE',
    steps,
    effects: extras.effects ?? [],
    attemptTo: extras.attemptTo ?? null,
    cancelOutcome: extras.cancelOutcome ?? null,
  };
};

export const ignore = (
  reason: IgnoreReason,
  effects: readonly Effect[] = [],
  attemptTo: AttemptStatus | null = null,
): Decision => ({ kind: 'IGNORE', reason, effects, attemptTo });

/** How a task that was asked to stop ends: as the user asked, or as the deadline said. */
export const canceledOrExpired = (facts: TaskFacts): 'CANCELED' | 'EXPIRED' =>
  facts.cancelReason === 'DEADLINE' ? 'EXPIRED' : 'CANCELED';
