import type { Attempt, AttemptCancelStatus } from '../../domain/attempt/attempt';
import { isAttemptSettled } from '../../domain/attempt/statuses';
import type { CancelOutcome } from '../../domain/provider/vocabulary';
import { judgeRetry } from '../../domain/scheduling/retry-budget';
import { crashpoint } from '../../ports/crash-points';
import { payloadOf } from '../../ports/messages';
import { consumeOnce, type Consumed, type Consumer } from '../consume';
import type { FlowContext } from '../flow-context';
import { recordObservation } from '../observe/record-observation';
import { applyEvent } from '../transition/apply-event';
import type { ProviderDeps } from './submit-attempt';

/**
 * Asks the provider to stop a job. It asks for the job's state first: a cancel of a finished job can destroy its output at
 * some providers. Whatever the provider answers, the task moves only when a query or callback says how the job ended.
 */
export const createCancelConsumer =
  (context: FlowContext, deps: ProviderDeps): Consumer =>
  async (envelope) => {
    const { attemptId } = payloadOf(envelope, 'attempt.cancel.requested');
    const attempt = await context.uow.stores.attempts.read(attemptId);
    if (attempt === null) throw new Error(`Attempt ${attemptId} is not there`);
    if (isAttemptSettled(attempt.status) || attempt.jobId === null) {
      return (await consumeOnce(context, 'provider', envelope, async () => undefined)).consumed;
    }
    crashpoint('cancel.before_http');
    const outcome = await askProvider(context, deps, attempt, attempt.jobId);
    crashpoint('cancel.after_http_before_db');
    if (outcome.kind === 'UNAVAILABLE') {
      const retry = await retryLater(context, attempt, outcome.retryAfterMs);
      if (retry !== null) return retry;
    }
    const { consumed } = await consumeOnce(context, 'provider', envelope, (tx) =>
      recordCancelAnswer(context, tx, attempt.id, attempt.taskId, outcome),
    );
    crashpoint('cancel.after_db_before_ack');
    return consumed;
  };

const askProvider = async (
  context: FlowContext,
  deps: ProviderDeps,
  attempt: Attempt,
  jobId: string,
): Promise<CancelOutcome> => {
  const gateway = deps.gatewayOf(attempt.providerId);
  const account = await deps.accountOf(attempt.accountId);
  const seen = await gateway.query(account, jobId);
  if (seen.kind === 'FOUND') {
    const { status } = seen.observation;
    if (status === 'SUCCEEDED' || status === 'FAILED' || status === 'CANCELED') {
      await recordObservation(context, {
        providerId: attempt.providerId,
        accountId: attempt.accountId,
        source: 'polling',
        sourceEventId: null,
        requestKey: attempt.requestKey,
        observation: seen.observation,
      });
      return { kind: 'ALREADY_FINISHED' };
    }
  }
  return gateway.cancel(account, jobId);
};

const retryLater = async (
  context: FlowContext,
  attempt: Attempt,
  retryAfterMs: number | null,
): Promise<Consumed | null> => {
  const now = context.clock.now();
  const verdict = judgeRetry('cancel', {
    triesDone: attempt.cancelTries + 1,
    firstTryAt: attempt.acceptedAt ?? now,
    now,
    random: context.random(),
    retryAfterMs,
  });
  if (verdict.kind === 'SPENT') return null;
  await context.uow.transact(async (tx) => {
    const fresh = await tx.attempts.lock(attempt.id);
    if (fresh === null) return;
    await tx.attempts.patch(
      fresh,
      null,
      { cancelTries: fresh.cancelTries + 1, cancelStatus: 'ASKED' },
      now,
    );
  });
  return { kind: 'RETRY', at: verdict.at, reason: 'provider unavailable for cancel' };
};

const recordCancelAnswer = async (
  context: FlowContext,
  tx: Parameters<Parameters<FlowContext['uow']['transact']>[0]>[0],
  attemptId: string,
  taskId: string,
  outcome: CancelOutcome,
): Promise<void> => {
  const now = context.clock.now();
  const task = await tx.tasks.lock(taskId);
  const attempt = await tx.attempts.lock(attemptId);
  if (task === null || attempt === null || isAttemptSettled(attempt.status)) return;
  const cancelStatus = CANCEL_STATUS[outcome.kind];
  const attemptPatch = { cancelStatus, cancelTries: attempt.cancelTries + 1, nextPollAt: now };
  if (cancelStatus === 'REFUSED' || cancelStatus === 'UNSUPPORTED') {
    await applyEvent(context, tx, {
      task,
      attempt,
      event: { type: 'cancel_refused' },
      origin: { source: 'worker', payload: { answer: outcome.kind } },
      attemptPatch,
    });
    return;
  }
  await tx.attempts.patch(attempt, null, attemptPatch, now);
};

const CANCEL_STATUS = {
  CONFIRMED: 'CONFIRMED',
  REQUESTED: 'REQUESTED',
  ALREADY_FINISHED: 'REQUESTED',
  UNSUPPORTED: 'UNSUPPORTED',
  NOT_FOUND: 'REFUSED',
  UNAVAILABLE: 'REFUSED',
} as const satisfies Record<CancelOutcome['kind'], AttemptCancelStatus>;
