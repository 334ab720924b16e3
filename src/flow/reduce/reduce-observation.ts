import type { Attempt } from '../../domain/attempt/attempt';
import { isAttemptSettled } from '../../domain/attempt/statuses';
import type { Task } from '../../domain/generation/task';
import { isBookableCharge, isSameCharge } from '../../domain/provider/charge';
import { FAILURE_POLICIES } from '../../domain/provider/failure-policy';
import type { JobObservation, ProviderCharge } from '../../domain/provider/vocabulary';
import { judgeRetry, type RetryVerdict } from '../../domain/scheduling/retry-budget';
import { crashpoint } from '../../ports/crash-points';
import { payloadOf } from '../../ports/messages';
import type { Slots } from '../../ports/slots';
import type { AttemptPatch } from '../../ports/stores/attempt-store';
import type { ProviderEvent } from '../../ports/stores/provider-event-store';
import type { EventSource } from '../../ports/stores/task-store';
import type { Stores } from '../../ports/unit-of-work';
import { consumeOnce, type Consumer } from '../consume';
import type { FlowContext } from '../flow-context';
import { freeSlotAfterCommit } from '../schedule/free-slot';
import { applyEvent, type Applied } from '../transition/apply-event';
import type { EventInput } from '../transition/event-input';

/**
 * Turns every observation into legal transitions: one reducer for callbacks, polls and lists. An event whose attempt is not
 * known yet stays an orphan; it is asked for again when the job's id is known.
 */
export const createReducer =
  (context: FlowContext, slots: Slots): Consumer =>
  async (envelope) => {
    const { providerEventId } = payloadOf(envelope, 'provider.status.observed');
    const { consumed, result } = await consumeOnce(context, 'reducer', envelope, async (tx) => {
      const applied = await reduce(context, tx, providerEventId);
      crashpoint('reduce.before_commit');
      return applied;
    });
    if (result !== null) await freeSlotAfterCommit(context, slots, result);
    crashpoint('reduce.after_commit_before_ack');
    return consumed;
  };

const reduce = async (
  context: FlowContext,
  tx: Stores,
  providerEventId: string,
): Promise<Applied | null> => {
  const event = await tx.providerEvents.read(providerEventId);
  if (event === null) throw new Error(`Provider event ${providerEventId} is not there`);
  const found = await findAttempt(tx, event);
  if (found === null) return null;
  const [task, attempt] = await Promise.all([
    tx.tasks.lock(found.taskId),
    tx.attempts.lock(found.id),
  ]);
  if (task === null || attempt === null) throw new Error(`Attempt ${found.id} is not there`);
  const seen = tame(event.observation, context.clock.now());
  const waits = waitsForOutput(event, attempt, seen);
  // Its output may only be late: until the provider was asked once more the job counts as running.
  const observation: JobObservation = waits ? { ...seen, status: 'RUNNING' } : seen;
  if (attempt.jobId !== null && attempt.jobId !== observation.jobId) {
    return recordSecondJob(context, tx, event, attempt);
  }
  // By what was said, not by what can be booked: a charge too strange for the books is not none.
  const verdict = waits ? null : judgeFailure(context, task, event.observation);
  const applied = await applyEvent(context, tx, {
    task,
    attempt,
    event: {
      type: 'job_observed',
      job: observation.status,
      hasOutputs: observation.outputs.length > 0,
      mayRetry: verdict?.kind === 'RETRY',
    },
    origin: {
      source: SOURCE_OF[event.source],
      sourceEventId: event.id,
      providerUpdatedAt: observation.providerUpdatedAt,
      payload: {
        status: observation.rawStatus,
        progress: observation.progress,
        code: observation.failure?.code ?? null,
      },
    },
    attemptPatch: {
      ...observedPatch(attempt, observation, context.clock.now()),
      ...(waits ? gracePatch(attempt, context.clock.now()) : {}),
    },
    retryAt: verdict?.kind === 'RETRY' ? verdict.at : null,
    error: errorOf(observation),
  });
  await recordLateCost(context, tx, attempt, observation);
  await showProgress(context, tx, applied, observation);
  await tx.providerEvents.markMatched(
    event.id,
    attempt.id,
    waits ? 'AWAITING_OUTPUT' : outcomeOf(applied),
    context.clock.now(),
  );
  return applied;
};

/** A job that succeeded and shows no output is asked about once more after this. */
const OUTPUT_GRACE_MS = 3_000;

const waitsForOutput = (event: ProviderEvent, attempt: Attempt, seen: JobObservation): boolean => {
  if (seen.status !== 'SUCCEEDED' || seen.outputs.length > 0) return false;
  if (isAttemptSettled(attempt.status)) return false;
  const since = attempt.emptySuccessAt;
  return since === null || event.receivedAt.getTime() - since.getTime() < OUTPUT_GRACE_MS;
};

const gracePatch = (attempt: Attempt, now: Date): AttemptPatch => ({
  emptySuccessAt: attempt.emptySuccessAt ?? now,
  nextPollAt: new Date((attempt.emptySuccessAt ?? now).getTime() + OUTPUT_GRACE_MS),
});

/**
 * An observation as the rows can hold it, whoever read it: one that cannot be written would come back forever and hold up
 * its task. A time that is still to come would make everything said after it look stale.
 */
const tame = (observation: JobObservation, now: Date): JobObservation => ({
  ...observation,
  progress: observation.progress === null ? null : Math.min(Math.max(observation.progress, 0), 100),
  providerUpdatedAt: earlier(observation.providerUpdatedAt, now),
  charge:
    observation.charge !== null && isBookableCharge(observation.charge) ? observation.charge : null,
});

const earlier = (date: Date | null, now: Date): Date | null =>
  date !== null && date > now ? now : date;

const SOURCE_OF = {
  callback: 'callback',
  polling: 'polling',
  reconcile: 'reconciler',
  submit: 'worker',
} as const satisfies Record<ProviderEvent['source'], EventSource>;

/** By job id first; else by our own key, which the provider echoed or its callback's path carried. */
const findAttempt = async (tx: Stores, event: ProviderEvent): Promise<Attempt | null> =>
  (await tx.attempts.findByJob(event.providerId, event.jobId)) ??
  (event.requestKey === null
    ? null
    : await tx.attempts.findByRequestKey(event.providerId, event.requestKey));

/** One attempt, two jobs: the first stays bound, the second is a cost that the platform must look into. */
const recordSecondJob = async (
  context: FlowContext,
  tx: Stores,
  event: ProviderEvent,
  attempt: Attempt,
): Promise<null> => {
  const now = context.clock.now();
  await tx.findings.record({
    id: context.ids.next(now),
    kind: 'DUPLICATE_PROVIDER_JOB',
    subjectKind: 'attempt',
    subjectId: attempt.id,
    tenantId: attempt.tenantId,
    detail: { boundJobId: attempt.jobId, otherJobId: event.jobId },
    actionTaken: null,
    now,
  });
  await tx.providerEvents.markMatched(event.id, attempt.id, 'DUPLICATE_JOB', now);
  return null;
};

/** Whether a failed job may be generated anew: by its class, its budget, the deadline, and only when it cost nothing. */
const judgeFailure = (
  context: FlowContext,
  task: Task,
  observation: JobObservation,
): RetryVerdict | null => {
  const kind = failureKindOf(observation);
  if (kind === null || !FAILURE_POLICIES[kind].mayRetry) return null;
  if (observation.charge !== null && !/^0*(\.0*)?$/.test(observation.charge.amount)) return null;
  const now = context.clock.now();
  return judgeRetry('submit', {
    triesDone: Math.max(task.submitTries, 1),
    firstTryAt: task.startedAt ?? now,
    now,
    random: context.random(),
    deadlineAt: task.deadlineAt,
  });
};

const failureKindOf = (observation: JobObservation) => {
  if (observation.failure !== null) return observation.failure.kind;
  if (observation.status === 'SUCCEEDED' && observation.outputs.length === 0) return 'NO_OUTPUT';
  if (observation.status === 'CANCELED') return 'PROVIDER_INTERNAL';
  return observation.status === 'FAILED' ? 'PROVIDER_INTERNAL' : null;
};

const errorOf = (observation: JobObservation): NonNullable<EventInput['error']> | null => {
  const kind = failureKindOf(observation);
  return kind === null ? null : { class: kind, code: FAILURE_POLICIES[kind].publicCode };
};

const observedPatch = (attempt: Attempt, observation: JobObservation, now: Date): AttemptPatch => {
  const seen = earlier(attempt.providerUpdatedAt, now);
  const stale =
    seen !== null && observation.providerUpdatedAt !== null && observation.providerUpdatedAt < seen;
  return {
    ...(attempt.jobId === null ? { jobId: observation.jobId } : {}),
    ...(stale
      ? {}
      : {
          providerStatus: observation.rawStatus,
          providerUpdatedAt: observation.providerUpdatedAt ?? seen,
        }),
    progress: Math.max(attempt.progress, Math.floor(observation.progress ?? 0)),
    ...(observation.outputs.length === 0
      ? {}
      : {
          outputs: observation.outputs.map((output) => ({
            ...output,
            expiresAt: output.expiresAt?.toISOString() ?? null,
          })),
          outputUrlExpiresAt: observation.outputs[0]?.expiresAt ?? null,
        }),
    ...chargePatch(attempt, observation),
    ...(observation.failure === null
      ? {}
      : { errorClass: observation.failure.kind, errorCode: observation.failure.code }),
  };
};

/** The first charge that is told counts: what is booked once is not rewritten, and a repeat is not booked again. */
const chargePatch = (attempt: Attempt, { charge }: JobObservation): AttemptPatch =>
  charge === null || knownCharge(attempt) !== null
    ? {}
    : { costAmount: charge.amount, costCurrency: charge.currency };

const knownCharge = ({ costAmount, costCurrency }: Attempt): ProviderCharge | null =>
  costAmount === null ? null : { amount: costAmount, currency: costCurrency ?? '' };

/** Another charge than the one that is booked: the books stay as they are, and the platform must look into it. */
const recordLateCost = async (
  context: FlowContext,
  tx: Stores,
  attempt: Attempt,
  { charge, jobId }: JobObservation,
): Promise<void> => {
  const known = knownCharge(attempt);
  if (charge === null || known === null || isSameCharge(known, charge)) return;
  const now = context.clock.now();
  await tx.findings.record({
    id: context.ids.next(now),
    kind: 'LATE_COST',
    subjectKind: 'attempt',
    subjectId: attempt.id,
    tenantId: attempt.tenantId,
    detail: {
      jobId,
      bookedAmount: known.amount,
      bookedCurrency: known.currency,
      observedAmount: charge.amount,
      observedCurrency: charge.currency,
    },
    actionTaken: null,
    now,
  });
};

/** Display only: the greater of both, never 100 before the end, and no version of its own. */
const showProgress = async (
  context: FlowContext,
  tx: Stores,
  applied: Applied,
  observation: JobObservation,
): Promise<void> => {
  const progress = Math.min(Math.floor(observation.progress ?? 0), 99);
  const { task } = applied;
  if (progress <= task.progress || (task.status !== 'RUNNING' && task.status !== 'SUBMITTED'))
    return;
  if (!(await tx.tasks.raiseProgress(task.id, progress)) || applied.moved) return;
  const now = context.clock.now();
  await tx.outbox.add(
    {
      type: 'generation',
      id: task.id,
      version: task.version,
      tenantId: task.tenantId,
      traceId: task.traceId,
      causationId: null,
    },
    [
      {
        eventId: context.ids.next(now),
        type: 'task.status.changed',
        payload: { taskId: task.id, version: task.version, status: task.status, terminal: false },
        availableAt: now,
      },
    ],
    now,
  );
};

const outcomeOf = (applied: Applied): string =>
  applied.decision.kind === 'MOVE' ? 'APPLIED' : `IGNORED_${applied.decision.reason}`;
