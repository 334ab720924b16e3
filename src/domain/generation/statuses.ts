/** One spelling in TypeScript, SQL and GraphQL. */
export const TASK_STATUSES = [
  'CREATED',
  'VALIDATING',
  'QUOTA_RESERVED',
  'QUEUED',
  'DISPATCHING',
  'SUBMIT_UNKNOWN',
  'SUBMITTED',
  'RUNNING',
  'RETRY_WAIT',
  'CANCEL_REQUESTED',
  'OUTPUT_FETCHING',
  'POST_PROCESSING',
  'SUCCEEDED',
  'CANCELED',
  'FAILED_FINAL',
  'EXPIRED',
] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

export const TERMINAL_TASK_STATUSES = ['SUCCEEDED', 'CANCELED', 'FAILED_FINAL', 'EXPIRED'] as const;
export type TerminalTaskStatus = (typeof TERMINAL_TASK_STATUSES)[number];

export const isTerminal = (status: TaskStatus): status is TerminalTaskStatus =>
  (TERMINAL_TASK_STATUSES as readonly TaskStatus[]).includes(status);

export const CANCEL_REASONS = ['USER', 'DEADLINE', 'OPERATOR'] as const;
export type CancelReason = (typeof CANCEL_REASONS)[number];

/** What became of a cancel: nothing was sent, the provider confirmed, it no longer mattered, or completion won. */
export const CANCEL_OUTCOMES = ['BEFORE_SUBMIT', 'CONFIRMED', 'MOOT', 'TOO_LATE'] as const;
export type CancelOutcomeWord = (typeof CANCEL_OUTCOMES)[number];
