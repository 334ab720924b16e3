import { isSubmissionEvent } from '../../../../src/domain/generation/decide-submission';
import type { TaskEvent } from '../../../../src/domain/generation/decision';
import type { TaskStatus } from '../../../../src/domain/generation/statuses';
import { TASK_EVENTS } from '../../../../src/domain/generation/transitions';
import type { Applied, ProviderJob, SimulatedAttempt, SimulatedWorld } from './simulated-world';

/** Something that may happen now; answers what was applied, or null where only the world changed. */
export type Happening = () => Applied | null;

type PlainEvent = Extract<TaskEvent, { type: 'queued' | 'lease_lost' | 'step_retryable' }>['type'];

/** Times the way forward stands in the list: rare ends leave long courses. */
const LIKELY = 8;
const often = <T>(...events: T[]): T[] => events.flatMap((event) => Array<T>(LIKELY).fill(event));

/** Events of the task alone, which may happen in each status. */
const OWN_EVENTS: Readonly<Record<TaskStatus, readonly TaskEvent['type'][]>> = {
  CREATED: [...often('validation_started' as const), 'cancel_requested'],
  VALIDATING: [
    ...often('validation_passed' as const),
    ...(['review_required', 'review_approved', 'review_rejected'] as const),
    ...(['cancel_requested', 'deadline_passed'] as const),
  ],
  QUOTA_RESERVED: [...often('queued' as const), 'cancel_requested'],
  QUEUED: [
    ...often('dispatch_claimed' as const),
    ...(['input_withdrawn', 'no_capable_model', 'submit_budget_exhausted'] as const),
    ...(['cancel_requested', 'deadline_passed'] as const),
  ],
  DISPATCHING: ['cancel_requested', 'deadline_passed'],
  SUBMIT_UNKNOWN: ['cancel_requested', 'deadline_passed'],
  SUBMITTED: ['cancel_requested', 'deadline_passed'],
  RUNNING: ['cancel_requested', 'deadline_passed'],
  RETRY_WAIT: [
    ...often('retry_due' as const),
    ...(['submit_budget_exhausted', 'cancel_requested', 'deadline_passed'] as const),
  ],
  CANCEL_REQUESTED: ['cancel_requested', 'deadline_passed'],
  OUTPUT_FETCHING: [
    ...(['output_persisted', 'output_persisted', 'step_retryable', 'url_refreshed'] as const),
    ...(['object_conflict', 'output_unrecoverable', 'retention_over', 'cancel_requested'] as const),
  ],
  POST_PROCESSING: [
    ...(['playable_asset_ready', 'output_review_required', 'output_rejected'] as const),
    ...(['raw_corrupt', 'step_retryable', 'media_budget_exhausted', 'media_window_over'] as const),
    'cancel_requested',
  ],
  SUCCEEDED: ['review_rejected', 'cancel_requested', 'deadline_passed'],
  CANCELED: ['cancel_requested', 'retry_due'],
  FAILED_FINAL: ['cancel_requested', 'review_rejected'],
  EXPIRED: ['cancel_requested', 'deadline_passed'],
};

/** Rows of the table that a decision chooses from an observation; nobody sends them as events. */
const CHOSEN_FROM_OBSERVATION: readonly string[] = [
  'earlier_attempt_job_found',
  'provider_job_found',
  'provider_running',
  'provider_succeeded',
  'provider_failed',
  'provider_canceled',
  'completion_won',
];

export const SENT_EVENTS: readonly TaskEvent['type'][] = [
  'job_observed',
  ...(TASK_EVENTS.filter((type) => !CHOSEN_FROM_OBSERVATION.includes(type)) as TaskEvent['type'][]),
];

/** Builds an event of any type; `luck` chooses its flags. */
export const eventOf = (type: TaskEvent['type'], luck: number): TaskEvent => {
  const mayRetry = luck % 2 === 0;
  const job = (['QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELED', 'UNRECOGNIZED'] as const)[
    luck % 6
  ];
  if (type === 'submit_rejected') return { type, mayRetry, charged: luck % 5 === 0 };
  if (type === 'undecidable_window_over') return { type, retryByPolicy: mayRetry };
  if (type === 'cancel_requested') return { type, reason: luck % 3 === 0 ? 'OPERATOR' : 'USER' };
  if (type === 'job_observed') {
    return { type, job: job ?? 'QUEUED', hasOutputs: luck % 4 < 3, mayRetry };
  }
  const judged =
    type === 'confirmed_not_created' ||
    type === 'operator_declared_absent' ||
    type === 'raw_corrupt';
  return judged ? { type, mayRetry } : { type: type as PlainEvent };
};

/** Every other event is judged beside the current attempt: so the facts are defined. */
export const speaksOfAttempt = (event: TaskEvent): boolean =>
  event.type === 'job_observed' || isSubmissionEvent(event);

/** Applies an event with what its transaction brings along: the hold, the attempt, the binding of a job. */
export const perform = (
  world: SimulatedWorld,
  event: TaskEvent,
  attempt: SimulatedAttempt | null,
): Applied => {
  if (event.type === 'dispatch_claimed') return world.claimDispatch();
  const reserves = event.type === 'validation_passed' || event.type === 'review_approved';
  if (reserves && world.task.status === 'VALIDATING') world.openHold();
  const applied = world.apply(event, speaksOfAttempt(event) ? attempt : world.current);
  const binds =
    event.type === 'job_observed' ||
    event.type === 'provider_accepted' ||
    event.type === 'operator_bound';
  if (
    binds &&
    attempt !== null &&
    (applied.decision.attemptTo !== null || attempt.jobId === null)
  ) {
    world.bindJob(attempt);
  }
  return applied;
};

/** Everything that may truly happen now: people, workers, the clock, and a provider that never lies. */
export const listHappenings = (world: SimulatedWorld, luck: number): Happening[] => {
  const own = OWN_EVENTS[world.task.status].map(
    (type): Happening =>
      () =>
        perform(world, eventOf(type, luck), world.current),
  );
  const outside = world.attempts.flatMap((attempt) => ofAttempt(world, attempt, luck));
  return [...own, ...outside, ...outside];
};

const ofAttempt = (world: SimulatedWorld, attempt: SimulatedAttempt, luck: number): Happening[] => {
  const happen = (type: TaskEvent['type']): Happening => {
    return () => perform(world, eventOf(type, luck), attempt);
  };
  const list: Happening[] = [];
  if (attempt.status === 'NEW') {
    const send = (): null => {
      world.send(attempt, luck % 3 > 0);
      return null;
    };
    list.push(send, send, happen('lease_lost'));
    if (world.task.status === 'CANCEL_REQUESTED') list.push(happen('never_sent'));
  }
  if (attempt.status === 'SENDING') list.push(happen('lease_lost'));
  if (attempt.sent && !attempt.answered) list.push(answer(world, attempt, luck));
  if (attempt.status === 'UNKNOWN' || attempt.status === 'ABANDONED') {
    list.push(...reconciliations(world, attempt, luck, happen));
  }
  if (attempt.status === 'FAILED_BEFORE_ACCEPT' && attempt.sent && attempt.truth === null) {
    list.push(() => {
      world.arriveLate(attempt);
      return null;
    });
  }
  const { truth } = attempt;
  if (truth !== null) {
    list.push(...ofJob(world, attempt, truth, luck));
    if (attempt.cancelAsked)
      list.push(happen('cancel_refused'), confirmCancel(world, attempt, truth));
  }
  return list;
};

/** The one answer of the request, or its loss; it may come long after the worker lost its lease. */
const answer = (world: SimulatedWorld, attempt: SimulatedAttempt, luck: number): Happening => {
  return () => {
    attempt.answered = true;
    if (luck % 4 === 0) return perform(world, { type: 'submit_ambiguous' }, attempt);
    if (attempt.truth !== null) return perform(world, { type: 'provider_accepted' }, attempt);
    const event = eventOf('submit_rejected', luck);
    if (event.type === 'submit_rejected' && event.charged) {
      attempt.charge = { kind: 'CHARGED', costMicros: BigInt(luck % 2_000_000) };
    }
    return perform(world, event, attempt);
  };
};

const reconciliations = (
  world: SimulatedWorld,
  attempt: SimulatedAttempt,
  luck: number,
  happen: (type: TaskEvent['type']) => Happening,
): Happening[] => [
  ...(attempt.truth === null
    ? [happen('confirmed_not_created'), happen('operator_declared_absent')]
    : [happen('operator_bound'), observe(world, attempt, attempt.truth, luck)]),
  happen('undecidable_window_over'),
  () => {
    attempt.watched = false;
    return null;
  },
];

const ofJob = (
  world: SimulatedWorld,
  attempt: SimulatedAttempt,
  truth: ProviderJob,
  luck: number,
): Happening[] => {
  const advance = (): null => {
    advanceJob(truth, luck);
    if (truth.status !== 'QUEUED' && truth.status !== 'RUNNING') {
      attempt.charge = { kind: 'CHARGED', costMicros: BigInt(luck % 2_000_000) };
    }
    return null;
  };
  const progress = (): null => {
    world.raiseProgress(luck % 101);
    return null;
  };
  const look = observe(world, attempt, truth, luck);
  return [advance, look, look, look, progress];
};

const advanceJob = (truth: ProviderJob, luck: number): void => {
  if (truth.status === 'QUEUED') truth.status = 'RUNNING';
  else if (truth.status === 'RUNNING') {
    truth.status =
      (['SUCCEEDED', 'SUCCEEDED', 'FAILED', 'CANCELED'] as const)[luck % 4] ?? 'FAILED';
    truth.hasOutputs = truth.status === 'SUCCEEDED' && luck % 3 > 0;
  }
  truth.past.push(truth.status);
};

/** A callback or a poll: mostly the present status, sometimes a late one, sometimes a word nobody knows. */
const observe = (
  world: SimulatedWorld,
  attempt: SimulatedAttempt,
  truth: ProviderJob,
  luck: number,
): Happening => {
  return () => {
    const late = truth.past[luck % truth.past.length] ?? truth.status;
    const job = luck % 11 === 0 ? 'UNRECOGNIZED' : luck % 3 === 0 ? late : truth.status;
    const hasOutputs = job === 'SUCCEEDED' && truth.hasOutputs;
    const mayRetry = luck % 2 === 0;
    return perform(world, { type: 'job_observed', job, hasOutputs, mayRetry }, attempt);
  };
};

const confirmCancel = (
  world: SimulatedWorld,
  attempt: SimulatedAttempt,
  truth: ProviderJob,
): Happening => {
  return () => {
    if (truth.status !== 'QUEUED' && truth.status !== 'RUNNING') return null;
    truth.status = 'CANCELED';
    truth.past.push('CANCELED');
    return perform(world, { type: 'cancel_confirmed' }, attempt);
  };
};
