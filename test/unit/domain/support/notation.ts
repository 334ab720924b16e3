import type { AttemptStatus } from '../../../../src/domain/attempt/statuses';
import type {
  AttemptFacts,
  Decision,
  Effect,
  TaskEvent,
  TaskFacts,
} from '../../../../src/domain/generation/decision';
import type { CancelReason, TaskStatus } from '../../../../src/domain/generation/statuses';
import type { JobStatus } from '../../../../src/domain/provider/vocabulary';

/**
 * The notation of the tables in these tests, so that a row of the law stays one line.
 *
 *   given  STATUS, or STATUS/ATTEMPT, then any of: earlier (the attempt is not the newest), with-job,
 *          no-job, earlier-unknown, others-over, DEADLINE (why it was asked to stop; USER otherwise)
 *   when   an event's name, then any of: may-retry, charged, by-policy, other-job;
 *          or `observed JOB`, then any of: with-output, may-retry
 *   then   `→ STATUS` (several for several versions; preceded by the row's event where it is not
 *          the one of `when`) or `ignored REASON`, then attempt, outcome, effects, findings
 */
export interface Row {
  readonly given: string;
  readonly when: string;
  readonly then: string;
}

export const readRows = (table: string): Row[] =>
  table
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter((cells) => cells.length === 3)
    .map(([given = '', when = '', then = '']) => ({ given, when, then }));

const WITHOUT_JOB: readonly AttemptStatus[] = [
  'NEW',
  'SENDING',
  'UNKNOWN',
  'ABANDONED',
  'FAILED_BEFORE_ACCEPT',
];

export const readFacts = (given: string): TaskFacts => {
  const [head = '', ...flags] = given.split(' ');
  const [status, attempt] = head.split('/') as [TaskStatus, AttemptStatus?];
  const reason: CancelReason | null = status === 'CANCEL_REQUESTED' ? 'USER' : null;
  return {
    status,
    version: 7,
    cancelReason: flags.includes('DEADLINE') ? 'DEADLINE' : reason,
    attempt: attempt === undefined ? null : readAttempt(attempt, flags),
    earlierAttemptUnknown: flags.includes('earlier-unknown'),
    othersAreOver: flags.includes('others-over'),
  };
};

const readAttempt = (status: AttemptStatus, flags: readonly string[]): AttemptFacts => ({
  status,
  hasJob:
    flags.includes('with-job') || (!flags.includes('no-job') && !WITHOUT_JOB.includes(status)),
  isCurrent: !flags.includes('earlier'),
});

export const readEvent = (when: string): TaskEvent => {
  const [type = '', ...flags] = when.split(' ');
  const mayRetry = flags.includes('may-retry');
  if (type === 'observed') {
    const job = flags[0] as JobStatus;
    return { type: 'job_observed', job, hasOutputs: flags.includes('with-output'), mayRetry };
  }
  return {
    type,
    mayRetry,
    charged: flags.includes('charged'),
    retryByPolicy: flags.includes('by-policy'),
    otherJob: flags.includes('other-job'),
    reason: 'USER',
  } as unknown as TaskEvent;
};

export const writeDecision = (decision: Decision, event: TaskEvent): string => {
  const head =
    decision.kind === 'IGNORE'
      ? `ignored ${decision.reason}`
      : decision.steps
          .map((step) => `${step.event === event.type ? '' : `${step.event} `}→ ${step.to}`)
          .join(' ');
  const outcome = decision.kind === 'MOVE' ? decision.cancelOutcome : null;
  return [
    head,
    ...(decision.attemptTo === null ? [] : [`attempt ${decision.attemptTo}`]),
    ...(outcome === null ? [] : [`outcome ${outcome}`]),
    ...decision.effects.map(writeEffect),
  ].join(', ');
};

const writeEffect = (effect: Effect): string =>
  effect.kind === 'RECORD_FINDING' ? `finding ${effect.finding}` : effect.kind;
