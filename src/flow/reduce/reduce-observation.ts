import type { Attempt } from '../../domain/attempt/attempt';
import type { Task } from '../../domain/generation/task';
import { FAILURE_POLICIES } from '../../domain/provider/failure-policy';
import type { JobObservation } from '../../domain/provider/vocabulary';
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
  const { observation } = event;
  if (attempt.jobId !== null && attempt.jobId !== observation.jobId) {
    return recordSecondJob(context, tx, event, attempt);
  }
  const verdict = judgeFailure(context, task, observation);
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
    attemptPatch: observedPatch(attempt, observation),
    retryAt: verdict?.kind === 'RETRY' ? verdict.at : null,
    error: errorOf(observation),
  });
  await showProgress(context, tx, applied, observation);
  await tx.providerEvents.markMatched(
    event.id,
    attempt.id,
    outcomeOf(applied),
    context.clock.now(),
  );
  return applied;
};

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
  const verdict = judgeRetry('submit', {
    triesDone: Math.max(task.submitTries, 1),
    firstTryAt: task.startedAt ?? now,
    now,
    random: context.random(),
  });
  return verdict.kind === 'RETRY' && verdict.at >= task.deadlineAt ? null : verdict;
};

const failureKindOf = (observation: JobObservation) => {
  if (observation.failure !== null) return observation.failure.kind;
  if (observation.status === 'SUCCEEDED' && observation.outputs.length === 0) return 'NO_OUTPUT';
  if (observation.status === 'CANCELED') return 'PROVIDER_INTERNAL';
  return observation.status === 'FAILED' ? 'PROVIDER_INTERNAL' : null;
};

const errorOf = (observation: JobObservation): { class: string; code: string } | null => {
  const kind = failureKindOf(observation);
  return kind === null ? null : { class: kind, code: FAILURE_POLICIES[kind].publicCode };
};

const observedPatch = (attempt: Attempt, observation: JobObservation): AttemptPatch => {
  const seen = attempt.providerUpdatedAt;
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

/** The charge, where it says something new: a repeat must not be booked again. */
const chargePatch = (attempt: Attempt, { charge }: JobObservation): AttemptPatch =>
  charge === null ||
  (attempt.costAmount !== null && isSameAmount(attempt.costAmount, charge.amount))
    ? {}
    : { costAmount: charge.amount, costCurrency: charge.currency };

/** Exact decimals that differ at most in trailing zeros, as the database adds them. */
const isSameAmount = (a: string, b: string): boolean => plain(a) === plain(b);
const plain = (amount: string): string =>
  amount.includes('.') ? amount.replace(/\.?0+$/, '') : amount;

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
