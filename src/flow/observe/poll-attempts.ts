import type { Attempt } from '../../domain/attempt/attempt';
import { isAttemptSettled } from '../../domain/attempt/statuses';
import type { QueryOutcome } from '../../domain/provider/vocabulary';
import { backoffMs } from '../../domain/scheduling/retry-budget';
import { crashpoint } from '../../ports/crash-points';
import { DatabaseUnavailableError } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';
import type { ProviderDeps } from '../submit/submit-attempt';
import { recordObservation } from './record-observation';

/** A claimed poll that dies with its process is claimed again after this. */
const POLL_CLAIM_MS = 30_000;

/**
 * Asks providers about jobs whose callback is absent or late. An HTTP error never ends a task: only the provider's verdict or
 * a deadline does. Intervals grow with each poll that brings nothing, with jitter.
 * @returns how many attempts were polled
 */
export const pollDueAttempts = async (
  context: FlowContext,
  deps: Pick<ProviderDeps, 'gatewayOf' | 'accountOf'>,
  limit: number,
): Promise<number> => {
  const now = context.clock.now();
  const until = new Date(now.getTime() + POLL_CLAIM_MS);
  const due = await context.uow.stores.attempts.claimDuePolls(now, until, limit);
  crashpoint('poll.after_claim_before_http');
  await Promise.all(due.map((attempt) => pollOrLeave(context, deps, attempt)));
  return due.length;
};

/** One attempt that cannot be polled must not keep the others waiting: its claim ends, and it is tried again. */
const pollOrLeave = async (
  context: FlowContext,
  deps: Pick<ProviderDeps, 'gatewayOf' | 'accountOf'>,
  attempt: Attempt,
): Promise<void> => {
  try {
    await pollOne(context, deps, attempt);
  } catch (error) {
    if (error instanceof DatabaseUnavailableError) throw error;
    context.log.error('an attempt could not be polled', {
      attemptId: attempt.id,
      error: String(error),
    });
  }
};

const pollOne = async (
  context: FlowContext,
  deps: Pick<ProviderDeps, 'gatewayOf' | 'accountOf'>,
  attempt: Attempt,
): Promise<void> => {
  if (attempt.jobId === null) return;
  const account = await deps.accountOf(attempt.accountId);
  const outcome = await deps.gatewayOf(attempt.providerId).query(account, attempt.jobId);
  crashpoint('poll.after_http_before_db');
  if (outcome.kind === 'FOUND') {
    await recordObservation(context, {
      providerId: attempt.providerId,
      accountId: attempt.accountId,
      source: 'polling',
      sourceEventId: null,
      requestKey: attempt.requestKey,
      observation: outcome.observation,
      // Asked a second time for an output, the provider's same words are an answer of their own.
      isSecondAnswer: attempt.emptySuccessAt !== null,
    });
  }
  crashpoint('poll.after_db_before_next_poll');
  await scheduleNextPoll(context, attempt, outcome);
};

const scheduleNextPoll = async (
  context: FlowContext,
  polled: Attempt,
  outcome: QueryOutcome,
): Promise<void> => {
  await context.uow.transact(async (tx) => {
    const attempt = await tx.attempts.lock(polled.id);
    if (attempt === null || isAttemptSettled(attempt.status)) return;
    const now = context.clock.now();
    const failed = outcome.kind !== 'FOUND';
    const errors = failed ? attempt.pollErrors + 1 : 0;
    await tx.attempts.patch(
      attempt,
      null,
      {
        pollTries: attempt.pollTries + 1,
        pollErrors: errors,
        nextPollAt: new Date(now.getTime() + nextPollMs(context, attempt, outcome, errors)),
      },
      now,
    );
  });
};

const nextPollMs = (
  context: FlowContext,
  attempt: Attempt,
  outcome: QueryOutcome,
  errors: number,
): number => {
  if (errors > 0) {
    const retryAfterMs = outcome.kind === 'UNAVAILABLE' ? (outcome.retryAfterMs ?? 0) : 0;
    return Math.max(backoffMs('query', errors, context.random()), retryAfterMs);
  }
  const growing = context.settings.pollMsFirst * 1.3 ** Math.min(attempt.pollTries, 20);
  return Math.round(Math.min(growing, context.settings.pollMsMax) * (0.8 + 0.4 * context.random()));
};
