import type { AttemptStatus } from '../attempt/statuses';
import type { TaskStatus } from './statuses';

/** `NONE`: the generation has no attempt yet. */
export type AttemptPresence = AttemptStatus | 'NONE';

/** The attempt is over, or given up for lost, and a new one may follow. */
const OVER = ['FAILED', 'CANCELED', 'FAILED_BEFORE_ACCEPT', 'ABANDONED'] as const;
/** A job given up for lost may turn up after the end; what it does is watched and recorded. */
const WATCHED = ['ACKED', 'RUNNING', 'SUCCEEDED', ...OVER] as const;

/** Which status the current attempt may have beside each status of its generation, as committed. */
export const CURRENT_ATTEMPT_BESIDE = {
  CREATED: ['NONE'],
  VALIDATING: ['NONE'],
  QUOTA_RESERVED: ['NONE'],
  QUEUED: ['NONE', ...OVER],
  DISPATCHING: ['NEW', 'SENDING'],
  SUBMIT_UNKNOWN: ['UNKNOWN'],
  SUBMITTED: ['ACKED'],
  RUNNING: ['RUNNING'],
  RETRY_WAIT: OVER,
  // OVER: an earlier attempt may be alive, and is being reconciled, while the newest is over.
  CANCEL_REQUESTED: ['NEW', 'SENDING', 'UNKNOWN', 'ACKED', 'RUNNING', ...OVER],
  OUTPUT_FETCHING: ['SUCCEEDED'],
  POST_PROCESSING: ['SUCCEEDED'],
  SUCCEEDED: ['SUCCEEDED'],
  CANCELED: ['NONE', ...WATCHED],
  FAILED_FINAL: ['NONE', ...WATCHED],
  // UNKNOWN: the recovery window ended while the answer of a submit was still out.
  EXPIRED: ['NONE', 'UNKNOWN', ...WATCHED],
} as const satisfies Record<TaskStatus, readonly AttemptPresence[]>;

type Listed = (typeof CURRENT_ATTEMPT_BESIDE)[TaskStatus][number];
/** A new attempt status that no row lists fails to compile here. */
export const EVERY_ATTEMPT_STATUS_IS_LISTED: AttemptPresence extends Listed ? true : never = true;

/**
 * What an attempt may be that is not the current one: over, withdrawn unsent, given up for lost, or a duplicate
 * that turned up late. Never one whose outcome is still open: that would be a blind second submit.
 */
export const EARLIER_ATTEMPT_STATUSES = WATCHED satisfies readonly AttemptStatus[];

export const mayStandBeside = (task: TaskStatus, attempt: AttemptPresence): boolean =>
  (CURRENT_ATTEMPT_BESIDE[task] as readonly AttemptPresence[]).includes(attempt);

export const mayPrecede = (attempt: AttemptStatus): boolean =>
  (EARLIER_ATTEMPT_STATUSES as readonly AttemptStatus[]).includes(attempt);
