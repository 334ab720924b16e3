import type { Attempt } from '../attempt/attempt';
import { assertNever } from '../kernel/assert-never';
import type { Task } from './task';

export type NextActor =
  | 'API'
  | 'SCHEDULER'
  | 'PROVIDER_WORKER'
  | 'POLLER'
  | 'RECONCILER'
  | 'OUTPUT_FETCH'
  | 'MEDIA'
  | 'OPERATOR'
  | 'NOBODY';

export interface NextStep {
  readonly actor: NextActor;
  /** For people. */
  readonly doing: string;
  /** When; null: as soon as it can. */
  readonly at: Date | null;
  /** Until when somebody holds the step; then the reconciler takes it over. */
  readonly leaseUntil: Date | null;
}

/** When the messages that have been planned leave, by their type. */
export type Planned = Readonly<Record<string, Date | undefined>>;

type TaskFacts = Pick<
  Task,
  'status' | 'scheduleAt' | 'nextRetryAt' | 'needsOperator' | 'recoveryDeadlineAt'
>;
type AttemptFacts = Pick<
  Attempt,
  'status' | 'jobId' | 'nextPollAt' | 'leaseUntil' | 'watchedUntil' | 'cancelStatus'
>;

/** Who moves a generation next, and when. `attempt` is the current one. Pure. */
export const nextStepOf = (
  task: TaskFacts,
  attempt: AttemptFacts | null,
  planned: Planned,
): NextStep => {
  const step = (actor: NextActor, doing: string, at: Date | null = null): NextStep => ({
    actor,
    doing,
    at,
    leaseUntil: attempt?.leaseUntil ?? null,
  });
  if (task.needsOperator) return step('OPERATOR', 'A person decides how it goes on.');
  switch (task.status) {
    case 'CREATED':
    case 'QUOTA_RESERVED':
      return step('API', 'The request is being accepted.');
    case 'VALIDATING':
      return step('OPERATOR', 'A person looks at the prompt.');
    case 'QUEUED':
      return step('SCHEDULER', 'It is given a place at a provider.', task.scheduleAt);
    case 'RETRY_WAIT':
      return step('SCHEDULER', 'It is tried again.', task.nextRetryAt ?? task.scheduleAt);
    case 'DISPATCHING':
      return step('PROVIDER_WORKER', 'It is sent to the provider.');
    case 'SUBMIT_UNKNOWN':
      return unknownStep(step, planned);
    case 'SUBMITTED':
    case 'RUNNING':
      return step('POLLER', POLLED, attempt?.nextPollAt ?? null);
    case 'CANCEL_REQUESTED':
      return cancelStep(step, attempt, planned);
    case 'OUTPUT_FETCHING':
      return step('OUTPUT_FETCH', 'The output is fetched.', task.nextRetryAt);
    case 'POST_PROCESSING':
      return step('MEDIA', 'The output is made playable.', task.nextRetryAt);
    case 'SUCCEEDED':
      return step('NOBODY', 'It has ended.');
    case 'CANCELED':
    case 'FAILED_FINAL':
    case 'EXPIRED':
      return endedStep(step, attempt, planned);
    default:
      return assertNever(task.status, 'task status');
  }
};

const POLLED = 'The provider works and calls back; if it does not, it is asked.';

type MakeStep = (actor: NextActor, doing: string, at?: Date | null) => NextStep;

const unknownStep = (step: MakeStep, planned: Planned): NextStep =>
  step(
    'RECONCILER',
    'The provider is asked whether it has the job; nothing is sent again meanwhile.',
    planned['attempt.reconcile.requested'] ?? null,
  );

const cancelStep = (step: MakeStep, attempt: AttemptFacts | null, planned: Planned): NextStep => {
  if (attempt === null || attempt.jobId === null) {
    return attempt?.status === 'NEW' || attempt?.status === 'SENDING'
      ? step('PROVIDER_WORKER', 'The dispatch under way meets the cancel.')
      : unknownStep(step, planned);
  }
  return attempt.cancelStatus === null || attempt.cancelStatus === 'ASKED'
    ? step(
        'PROVIDER_WORKER',
        'The provider is asked to stop.',
        planned['attempt.cancel.requested'] ?? null,
      )
    : step('POLLER', 'The provider is asked how the job ended.', attempt.nextPollAt);
};

/** The generation has ended; what its attempts still do is watched, and changes nothing of it. */
const endedStep = (step: MakeStep, attempt: AttemptFacts | null, planned: Planned): NextStep => {
  const status = attempt?.status;
  if (status === 'UNKNOWN' || status === 'ABANDONED') {
    return step(
      'RECONCILER',
      'It has ended; whether the provider has a job of it is still being found out.',
      planned['attempt.reconcile.requested'] ?? null,
    );
  }
  return status === 'ACKED' || status === 'RUNNING'
    ? step(
        'POLLER',
        'It has ended; what becomes of its job is watched.',
        attempt?.nextPollAt ?? null,
      )
    : step('NOBODY', 'It has ended.');
};
