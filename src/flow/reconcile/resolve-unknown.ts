import type { Attempt } from '../../domain/attempt/attempt';
import type { TaskEvent } from '../../domain/generation/decision';
import type { ReconcileOutcome } from '../../domain/provider/vocabulary';
import { backoffMs } from '../../domain/scheduling/retry-budget';
import { crashpoint } from '../../ports/crash-points';
import { payloadOf } from '../../ports/messages';
import type { Provider } from '../../ports/stores/catalog-store';
import type { Stores } from '../../ports/unit-of-work';
import { consumeOnce, type Consumer } from '../consume';
import type { FlowContext } from '../flow-context';
import { recordObservation } from '../observe/record-observation';
import { freeSlotAfterCommit } from '../schedule/free-slot';
import { forgottenOf } from '../submit/ask-before-sending';
import type { ProviderDeps } from '../submit/submit-attempt';
import { applyEvent, type Applied } from '../transition/apply-event';

export type ReconcileDeps = Pick<ProviderDeps, 'gatewayOf' | 'accountOf' | 'slots'>;

/**
 * Resolves an unknown submit by asking the provider what it has of ours. A found job goes to the reducer like any other
 * observation. Absence counts only when the provider's list has not shown the job for a while after its slowest create
 * would have been done: the request may still be on its way. Even then the attempt stays watched. What cannot be decided within the provider's window ends by its recorded policy, never by a blind retry.
 */
export const createReconcileConsumer =
  (context: FlowContext, deps: ReconcileDeps): Consumer =>
  async (envelope) => {
    const { attemptId } = payloadOf(envelope, 'attempt.reconcile.requested');
    const attempt = await context.uow.stores.attempts.read(attemptId);
    if (attempt === null) throw new Error(`Attempt ${attemptId} is not there`);
    const isDue = isUnknown(attempt) && !isPlannedLater(context, attempt);
    const outcome = isDue ? await ask(context, deps, attempt) : null;
    crashpoint('reconcile.after_list_before_db');
    const { consumed, result } = await consumeOnce(context, 'reconciler', envelope, async (tx) =>
      outcome === null ? null : recordOutcome(context, tx, attempt, outcome),
    );
    crashpoint('reconcile.after_db_before_ack');
    if (result !== null) await freeSlotAfterCommit(context, deps.slots, result);
    return consumed;
  };

/**
 * Each question plans the next one. One that comes long before the planned one is a repeat whose dedup row is gone: would it plan one
 * of its own, a replayed topic would double the questions for as long as the attempt is watched.
 */
const isPlannedLater = (context: FlowContext, { reconcileTries, leaseUntil }: Attempt): boolean => {
  if (reconcileTries === 0 || leaseUntil === null) return false;
  const plannedMs = leaseUntil.getTime() - context.settings.stuckAfterMs;
  return plannedMs - context.clock.now().getTime() > EARLY_MS;
};

/** Clocks differ a little: rather two questions than none. Shorter than any pause between two of them that lasts. */
const EARLY_MS = 3_000;

const isUnknown = (attempt: Attempt): boolean =>
  attempt.jobId === null && (attempt.status === 'UNKNOWN' || isWatched(attempt));

/** Given up for lost, or absent as far as a list or a person could tell: a job may turn up all the same. */
const isWatched = ({ status, watchedUntil }: Attempt): boolean =>
  status === 'ABANDONED' || (status === 'FAILED_BEFORE_ACCEPT' && watchedUntil !== null);

const ask = async (
  context: FlowContext,
  deps: ReconcileDeps,
  attempt: Attempt,
): Promise<ReconcileOutcome> => {
  const { tasks, lives } = context.uow.stores;
  const [account, task, restoredAt] = await Promise.all([
    deps.accountOf(attempt.accountId),
    tasks.read(attempt.taskId),
    lives.restoredAt(context.clock.now()),
  ]);
  const forgotten = task === null ? null : forgottenOf(task, restoredAt);
  const outcome = await deps.gatewayOf(attempt.providerId).reconcile(account, {
    requestKey: attempt.requestKey,
    callbackUrl: attempt.callbackUrl,
    submittedAt: attempt.sentAt ?? attempt.createdAt,
    ...(forgotten === null ? {} : { sentSince: forgotten.since }),
  });
  if (outcome.kind === 'FOUND') {
    await recordObservation(context, {
      providerId: attempt.providerId,
      accountId: attempt.accountId,
      source: 'reconcile',
      sourceEventId: null,
      requestKey: attempt.requestKey,
      observation: outcome.observation,
    });
  }
  return outcome;
};

const recordOutcome = async (
  context: FlowContext,
  tx: Stores,
  asked: Attempt,
  outcome: ReconcileOutcome,
): Promise<Applied | null> => {
  // Found: the reducer binds the job, by the observation stored before this transaction.
  if (outcome.kind === 'FOUND') return null;
  const task = await tx.tasks.lock(asked.taskId);
  const attempt = await tx.attempts.lock(asked.id);
  if (task === null || attempt === null || !isUnknown(attempt)) return null;
  const provider = await tx.catalog.readProvider(attempt.providerId);
  if (provider === null) throw new Error(`Provider ${attempt.providerId} is not there`);
  const now = context.clock.now();
  const absentSince = outcome.kind === 'ABSENT' ? (attempt.absentSince ?? now) : null;
  const event = judge(attempt, provider, absentSince, now);
  const attemptPatch = { reconcileTries: attempt.reconcileTries + 1, absentSince };
  if (event === null) {
    // Another question was answered meanwhile, and has planned the next one.
    if (attempt.reconcileTries !== asked.reconcileTries) return null;
    const retryAfterMs = outcome.kind === 'UNAVAILABLE' ? (outcome.retryAfterMs ?? 0) : 0;
    await askAgain(context, tx, attempt, provider, attemptPatch, retryAfterMs);
    return null;
  }
  return applyEvent(context, tx, {
    task,
    attempt,
    event,
    origin: {
      source: 'reconciler',
      payload: { outcome: outcome.kind, tries: attempt.reconcileTries + 1 },
    },
    attemptPatch,
    error: {
      class: 'SUBMIT_UNKNOWN',
      code: event.type === 'undecidable_window_over' ? 'SUBMIT_UNDECIDABLE' : 'SUBMIT_NOT_CREATED',
    },
    retryAt: new Date(
      now.getTime() + backoffMs('submit', Math.max(task.submitTries, 1), context.random()),
    ),
  });
};

const judge = (
  attempt: Attempt,
  provider: Provider,
  absentSince: Date | null,
  now: Date,
): TaskEvent | null => {
  // Believed absent once already: from here on only the job itself is news.
  if (attempt.status === 'FAILED_BEFORE_ACCEPT') return null;
  const sentAt = attempt.sentAt ?? attempt.createdAt;
  const settledAtMs = sentAt.getTime() + provider.createSettlesMs;
  if (
    absentSince !== null &&
    now.getTime() - Math.max(absentSince.getTime(), settledAtMs) >= provider.absenceGraceMs
  ) {
    return { type: 'confirmed_not_created', mayRetry: true };
  }
  // Given up for lost once already: from here on only the job itself, or its confirmed absence, is news.
  if (attempt.status === 'ABANDONED') return null;
  return now.getTime() - sentAt.getTime() > provider.unknownWindowMs
    ? { type: 'undecidable_window_over', retryByPolicy: provider.undecidablePolicy === 'RETRY' }
    : null;
};

/** Bounded, so that neither a long grace nor a long watch makes the answer late or the provider busy. */
const nextAskMs = (
  context: FlowContext,
  attempt: Attempt,
  provider: Provider,
  asked: Pick<Attempt, 'reconcileTries' | 'absentSince'>,
): number => {
  if (isWatched(attempt)) {
    // By its age: a late create is the likelier the younger the submit is.
    const ageMs = context.clock.now().getTime() - (attempt.sentAt ?? attempt.createdAt).getTime();
    return Math.min(Math.max(ageMs / 4, WATCH_ASK_MS_FIRST), WATCH_ASK_MS_MAX);
  }
  return asked.absentSince === null
    ? backoffMs('reconcile', asked.reconcileTries, context.random())
    : Math.min(Math.max(provider.absenceGraceMs / 4, 250), ABSENT_ASK_MS_MAX);
};

const ABSENT_ASK_MS_MAX = 15_000;
const WATCH_ASK_MS_FIRST = 15_000;
const WATCH_ASK_MS_MAX = 3_600_000;

const askAgain = async (
  context: FlowContext,
  tx: Stores,
  attempt: Attempt,
  provider: Provider,
  asked: Pick<Attempt, 'reconcileTries' | 'absentSince'>,
  retryAfterMs: number,
): Promise<void> => {
  const now = context.clock.now();
  // What the provider asks for is a floor; its own window and the watch stay as they are.
  const waitMs = Math.max(nextAskMs(context, attempt, provider, asked), retryAfterMs);
  const askAt = new Date(now.getTime() + waitMs);
  // While the next question is planned the reconciler need not ask it too.
  const leaseUntil = new Date(askAt.getTime() + context.settings.stuckAfterMs);
  const fresh = await tx.attempts.patch(attempt, null, { ...asked, leaseUntil }, now);
  if (attempt.watchedUntil !== null && attempt.watchedUntil <= now) return;
  await tx.outbox.add(
    {
      type: 'attempt',
      id: fresh.id,
      version: fresh.version,
      tenantId: fresh.tenantId,
      traceId: fresh.id,
      causationId: null,
    },
    [
      {
        eventId: context.ids.next(now),
        type: 'attempt.reconcile.requested',
        payload: { taskId: fresh.taskId, attemptId: fresh.id },
        availableAt: askAt,
      },
    ],
    now,
  );
};
