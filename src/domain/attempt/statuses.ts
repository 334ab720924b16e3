/** One submission to one provider. Attempts are never overwritten: history explains duplicates and cost. */
export const ATTEMPT_STATUSES = [
  'NEW',
  'SENDING',
  'UNKNOWN',
  'ACKED',
  'RUNNING',
  'SUCCEEDED',
  'FAILED',
  'CANCELED',
  'FAILED_BEFORE_ACCEPT',
  'ABANDONED',
] as const;
export type AttemptStatus = (typeof ATTEMPT_STATUSES)[number];

/**
 * The law of an attempt. `FAILED_BEFORE_ACCEPT` needs high confidence that nothing was created: local
 * serialisation, a connection refused before any byte, an explicit not-created answer, or the
 * provider's own complete list. A read time-out never counts as that. Confidence is not proof: a request may reach the
 * provider long after its answer was given up for lost, so a job that turns up all the same is bound to its attempt, as
 * that of one that is `ABANDONED` is, with its cost.
 */
export const ATTEMPT_TRANSITIONS = {
  NEW: ['SENDING', 'CANCELED', 'FAILED_BEFORE_ACCEPT'],
  SENDING: [
    'ACKED',
    'UNKNOWN',
    'RUNNING',
    'SUCCEEDED',
    'FAILED',
    'CANCELED',
    'FAILED_BEFORE_ACCEPT',
  ],
  UNKNOWN: [
    'ACKED',
    'RUNNING',
    'SUCCEEDED',
    'FAILED',
    'CANCELED',
    'FAILED_BEFORE_ACCEPT',
    'ABANDONED',
  ],
  ACKED: ['RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELED'],
  RUNNING: ['SUCCEEDED', 'FAILED', 'CANCELED'],
  ABANDONED: ['ACKED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELED', 'FAILED_BEFORE_ACCEPT'],
  SUCCEEDED: [],
  FAILED: [],
  CANCELED: [],
  FAILED_BEFORE_ACCEPT: ['ACKED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELED'],
} as const satisfies Record<AttemptStatus, readonly AttemptStatus[]>;

export const mayAttemptMove = (from: AttemptStatus, to: AttemptStatus): boolean =>
  (ATTEMPT_TRANSITIONS[from] as readonly AttemptStatus[]).includes(to);

export const ATTEMPT_STATUS_PAIRS: readonly (readonly [AttemptStatus, AttemptStatus])[] = (
  Object.entries(ATTEMPT_TRANSITIONS) as [AttemptStatus, readonly AttemptStatus[]][]
)
  .flatMap(([from, targets]) => targets.map((to) => [from, to] as const))
  .sort(([a, b], [c, d]) => (a + b < c + d ? -1 : 1));

/** The provider has said its last word about the job, or there is none as far as anybody can know. */
export const isAttemptSettled = (status: AttemptStatus): boolean =>
  status === 'FAILED_BEFORE_ACCEPT' || ATTEMPT_TRANSITIONS[status].length === 0;

/** Attempts that may have a living job at the provider: they keep their concurrency slot. */
export const holdsSlot = (status: AttemptStatus): boolean =>
  status === 'NEW' ||
  status === 'SENDING' ||
  status === 'UNKNOWN' ||
  status === 'ACKED' ||
  status === 'RUNNING';
