import type { Attempt } from '../../domain/attempt/attempt';
import type { TaskEvent } from '../../domain/generation/decision';
import { isTerminal } from '../../domain/generation/statuses';
import type { Task } from '../../domain/generation/task';
import { FAILURE_POLICIES } from '../../domain/provider/failure-policy';
import type { SubmitOutcome } from '../../domain/provider/vocabulary';
import { backoffMs, judgeRetry } from '../../domain/scheduling/retry-budget';
import type { AttemptPatch } from '../../ports/stores/attempt-store';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';
import { applyEvent, type Applied } from '../transition/apply-event';
import { requestObservation } from '../observe/request-observation';

type Rejected = Extract<SubmitOutcome, { kind: 'REJECTED' }>;

const ANSWER_AWAITED: readonly Attempt['status'][] = ['SENDING', 'UNKNOWN', 'ABANDONED'];

/**
 * Commits what a submit came to. The world may have moved while the answer travelled: an observation may have bound the
 * job, a cancel may wait, the lease may be lost. A late answer is still an observation and never dropped.
 */
export const recordSubmitOutcome = async (
  context: FlowContext,
  tx: Stores,
  sent: Attempt,
  outcome: SubmitOutcome,
): Promise<Applied | null> => {
  const [task, attempt] = await Promise.all([
    tx.tasks.lock(sent.taskId),
    tx.attempts.lock(sent.id),
  ]);
  if (task === null || attempt === null) throw new Error(`Attempt ${sent.id} is not there`);
  switch (outcome.kind) {
    case 'ACCEPTED':
      await noteCircuit(context, tx, sent.accountId, false);
      return recordAccepted(context, tx, task, attempt, outcome);
    case 'REJECTED':
      await noteCircuit(
        context,
        tx,
        sent.accountId,
        FAILURE_POLICIES[outcome.failure].tripsCircuit,
      );
      if (FAILURE_POLICIES[outcome.failure].shrinksLimit) {
        await shrinkLimit(context, tx, sent.accountId, outcome.retryAfterMs);
      }
      return recordRejected(context, tx, task, attempt, outcome);
    case 'UNKNOWN':
      if (attempt.status !== 'SENDING') return null;
      return applyEvent(context, tx, {
        task,
        attempt,
        event: { type: 'submit_ambiguous' },
        origin: { source: 'worker', payload: { phase: outcome.phase, digest: outcome.digest } },
        attemptPatch: {
          answerDigest: outcome.digest,
          errorClass: 'SUBMIT_UNKNOWN',
          errorCode: outcome.phase,
        },
        error: { class: 'SUBMIT_UNKNOWN', code: outcome.phase },
        retryAt: new Date(
          context.clock.now().getTime() + backoffMs('reconcile', 1, context.random()),
        ),
      });
  }
};

const recordAccepted = async (
  context: FlowContext,
  tx: Stores,
  task: Task,
  attempt: Attempt,
  outcome: Extract<SubmitOutcome, { kind: 'ACCEPTED' }>,
): Promise<Applied | null> => {
  if (attempt.jobId !== null && attempt.jobId !== outcome.jobId) {
    await recordSecondJob(context, tx, task, attempt, outcome.jobId);
    return null;
  }
  if (attempt.jobId === outcome.jobId) return null;
  const late = isTerminal(task.status) || attempt.attemptNo !== task.currentAttemptNo;
  // For a task that went on without this answer it is one more observation of a job that lives.
  const event: TaskEvent = late
    ? { type: 'job_observed', job: 'QUEUED', hasOutputs: false, mayRetry: false }
    : { type: 'provider_accepted' };
  const applied = await applyEvent(context, tx, {
    task,
    attempt,
    event,
    origin: { source: 'worker', payload: { digest: outcome.digest } },
    attemptPatch: { jobId: outcome.jobId, answerDigest: outcome.digest },
  });
  const orphans = await tx.providerEvents.listOrphansOf(
    attempt.providerId,
    outcome.jobId,
    attempt.requestKey,
  );
  for (const orphan of orphans) {
    // One that carries our key finds its attempt without the job's id: its own message is on its way, and finds it.
    if (orphan.requestKey === attempt.requestKey) continue;
    await requestObservation(context, tx, orphan.id, task);
  }
  return applied;
};

const recordSecondJob = async (
  context: FlowContext,
  tx: Stores,
  task: Task,
  attempt: Attempt,
  jobId: string,
): Promise<void> => {
  const now = context.clock.now();
  await tx.findings.record({
    id: context.ids.next(now),
    kind: 'DUPLICATE_PROVIDER_JOB',
    subjectKind: 'attempt',
    subjectId: attempt.id,
    tenantId: task.tenantId,
    detail: { boundJobId: attempt.jobId, otherJobId: jobId },
    actionTaken: null,
    now,
  });
};

const recordRejected = async (
  context: FlowContext,
  tx: Stores,
  task: Task,
  attempt: Attempt,
  outcome: Rejected,
): Promise<Applied | null> => {
  // An attempt given up for lost is still watched: its refusal, and what that cost, is what was waited for.
  // So is the cost of one that was taken for never made.
  const isCost = attempt.status === 'FAILED_BEFORE_ACCEPT' && attempt.costAmount === null;
  const isNews = isCost && attempt.jobId === null && outcome.charge !== null;
  if (!ANSWER_AWAITED.includes(attempt.status) && !isNews) return null;
  const now = context.clock.now();
  const policy = FAILURE_POLICIES[outcome.failure];
  const verdict = judgeRetry('submit', {
    triesDone: task.submitTries,
    firstTryAt: task.startedAt ?? now,
    now,
    random: context.random(),
    retryAfterMs: outcome.retryAfterMs,
    deadlineAt: task.deadlineAt,
  });
  const mayRetry = outcome.retryable && policy.mayRetry && verdict.kind === 'RETRY';
  return applyEvent(context, tx, {
    task,
    attempt,
    event: { type: 'submit_rejected', mayRetry, charged: outcome.charge !== null },
    origin: {
      source: 'worker',
      payload: { failure: outcome.failure, code: outcome.code, digest: outcome.digest },
    },
    attemptPatch: rejectionPatch(outcome),
    error: { class: outcome.failure, code: policy.publicCode },
    retryAt: verdict.kind === 'RETRY' ? verdict.at : null,
  });
};

const rejectionPatch = (outcome: Rejected): AttemptPatch => ({
  errorClass: outcome.failure,
  errorCode: outcome.code,
  answerDigest: outcome.digest,
  ...(outcome.charge === null
    ? {}
    : { costAmount: outcome.charge.amount, costCurrency: outcome.charge.currency }),
});

/** Refusals that travelled together count once. */
const THROTTLE_SETTLE_MS = 1_000;

/** A provider that has too many jobs gets fewer for as long as it asks for, and at least for a while. */
const shrinkLimit = async (
  context: FlowContext,
  tx: Stores,
  accountId: string,
  retryAfterMs: number | null,
): Promise<void> => {
  const now = context.clock.now();
  const forMs = Math.max(retryAfterMs ?? 0, context.settings.throttleMs);
  await tx.catalog.shrinkAccount(
    accountId,
    new Date(now.getTime() + forMs),
    new Date(now.getTime() - THROTTLE_SETTLE_MS),
    now,
  );
};

/** Consecutive failures open the account's circuit for submits; one success closes it. */
const noteCircuit = async (
  context: FlowContext,
  tx: Stores,
  accountId: string,
  failed: boolean,
): Promise<void> => {
  const now = context.clock.now();
  const { circuitFailuresMax, circuitOpenMs } = context.settings;
  const openUntil = new Date(now.getTime() + circuitOpenMs);
  await tx.catalog.noteCircuit(accountId, failed, circuitFailuresMax, openUntil, now);
};
