import {
  evolve,
  type EvolveContext,
  type TaskPatch,
} from '../../../../src/domain/generation/evolve';
import type { Task } from '../../../../src/domain/generation/task';
import type { Step } from '../../../../src/domain/generation/decision';
import { newTask } from '../support/new-task';

const NOW = new Date('2026-12-01T12:00:00Z');
const LATER = new Date('2026-12-01T12:00:30Z');

const patchOf = (
  task: Partial<Task>,
  step: Step,
  context: Partial<EvolveContext> = {},
): TaskPatch =>
  evolve(newTask(task), step, {
    now: NOW,
    retryAt: null,
    cancelReason: null,
    cancelOutcome: null,
    recoveryWindowMs: 60_000,
    attempt: null,
    error: null,
    ...context,
  });

describe('what a step changes in the row', () => {
  it('shows a queued task to the scheduler at once', () => {
    const patch = patchOf({ status: 'QUOTA_RESERVED' }, { event: 'queued', to: 'QUEUED' });
    expect(patch).toEqual({
      scheduleAt: NOW,
      waitingSince: NOW,
      waitReason: null,
      nextRetryAt: null,
    });
  });

  it('shows a task that waits for a retry when the retry is due', () => {
    const patch = patchOf(
      { status: 'DISPATCHING' },
      { event: 'submit_rejected', to: 'RETRY_WAIT' },
      { retryAt: LATER, error: { class: 'THROTTLED', code: '429' } },
    );
    expect(patch).toEqual({
      scheduleAt: LATER,
      nextRetryAt: LATER,
      waitReason: 'RETRY_WAIT',
      waitingSince: NOW,
      lastErrorClass: 'THROTTLED',
      lastErrorCode: '429',
    });
  });

  it('hides a task from the scheduler when it leaves the queue, and counts the attempt', () => {
    const patch = patchOf(
      { status: 'QUEUED', scheduleAt: NOW, submitTries: 1, currentAttemptNo: 1 },
      { event: 'dispatch_claimed', to: 'DISPATCHING' },
    );
    expect(patch).toMatchObject({ scheduleAt: null, submitTries: 2, currentAttemptNo: 2 });
  });

  it('keeps the first start', () => {
    const patch = patchOf(
      { status: 'QUEUED', startedAt: LATER },
      { event: 'dispatch_claimed', to: 'DISPATCHING' },
    );
    expect(patch.startedAt).toBe(LATER);
  });

  it.each([
    ['cancel_requested', null, 'USER'],
    ['cancel_requested', 'OPERATOR', 'OPERATOR'],
    ['deadline_passed', null, 'DEADLINE'],
    ['deadline_passed', 'USER', 'DEADLINE'],
  ] as const)('notes on %s (said: %s) that it stops because of %s', (event, said, cancelReason) => {
    const patch = patchOf(
      { status: 'RUNNING' },
      { event, to: 'CANCEL_REQUESTED' },
      { cancelReason: said },
    );
    expect(patch).toEqual({
      cancelReason,
      cancelRequestedAt: NOW,
      recoveryDeadlineAt: new Date(NOW.getTime() + 60_000),
    });
  });

  it('never moves the first request to stop', () => {
    const patch = patchOf(
      { status: 'CANCEL_REQUESTED', cancelRequestedAt: LATER, cancelReason: 'USER' },
      { event: 'provider_accepted', to: 'CANCEL_REQUESTED' },
    );
    expect(patch).toEqual({});
  });

  it('forgets the recovery deadline when completion wins', () => {
    const patch = patchOf(
      { status: 'CANCEL_REQUESTED', cancelRequestedAt: NOW, recoveryDeadlineAt: LATER },
      { event: 'completion_won', to: 'OUTPUT_FETCHING' },
      { cancelOutcome: 'TOO_LATE' },
    );
    expect(patch).toMatchObject({ recoveryDeadlineAt: null, cancelOutcome: 'TOO_LATE' });
  });

  it.each([
    ['OUTPUT_FETCHING', { fetchTries: 3, nextRetryAt: LATER }],
    ['POST_PROCESSING', { mediaTries: 5, nextRetryAt: LATER }],
  ] as const)('spends the budget of the step alone: %s', (status, expected) => {
    const patch = patchOf(
      { status, fetchTries: 2, mediaTries: 4, submitTries: 1 },
      { event: 'step_retryable', to: status },
      { retryAt: LATER },
    );
    expect(patch).toEqual(expected);
  });

  it('fetches a corrupt file again under the next generation of its key', () => {
    const patch = patchOf(
      { status: 'POST_PROCESSING', rawGeneration: 1, fetchTries: 1 },
      { event: 'raw_corrupt', to: 'OUTPUT_FETCHING' },
    );
    expect(patch).toEqual({ rawGeneration: 2, fetchTries: 2, nextRetryAt: null });
  });

  it.each([
    ['OUTPUT_FETCHING', 'object_conflict'],
    ['POST_PROCESSING', 'media_budget_exhausted'],
  ] as const)('asks for a person at %s on %s', (status, event) => {
    expect(patchOf({ status }, { event, to: status })).toMatchObject({ needsOperator: true });
  });

  it('needs no person any more once the task moves on', () => {
    const patch = patchOf(
      { status: 'POST_PROCESSING', needsOperator: true },
      { event: 'playable_asset_ready', to: 'SUCCEEDED' },
    );
    expect(patch.needsOperator).toBe(false);
  });

  it('finishes once, and is complete only with success', () => {
    const success = patchOf(
      { status: 'POST_PROCESSING', progress: 97 },
      { event: 'playable_asset_ready', to: 'SUCCEEDED' },
    );
    expect(success).toEqual({ finishedAt: NOW, nextRetryAt: null, progress: 100 });
    const failure = patchOf(
      { status: 'POST_PROCESSING', progress: 97 },
      { event: 'output_rejected', to: 'FAILED_FINAL' },
    );
    expect(failure).toEqual({ finishedAt: NOW, nextRetryAt: null });
    const review = patchOf(
      { status: 'SUCCEEDED', finishedAt: LATER },
      { event: 'review_rejected', to: 'SUCCEEDED' },
    );
    expect(review).toEqual({});
  });
});

describe('a job of an earlier attempt that is found', () => {
  const attempt = { attemptNo: 1, providerId: 'first', accountId: 'first-main' };
  const later = { currentAttemptNo: 2, selectedProvider: 'second' } as const;
  const step: Step = { event: 'earlier_attempt_job_found', to: 'SUBMITTED' };

  it.each(['QUEUED', 'RETRY_WAIT'] as const)('makes it the current one at %s', (status) => {
    expect(patchOf({ status, ...later }, step, { attempt })).toMatchObject({
      currentAttemptNo: 1,
      selectedProvider: 'first',
      selectedAccount: 'first-main',
    });
  });

  it('is a duplicate where a newer one is under way: that one stays current', () => {
    expect(patchOf({ status: 'SUBMITTED', ...later }, step, { attempt })).toEqual({});
  });

  it('leaves its number free: the next attempt is the one after the newest', () => {
    const claim: Step = { event: 'dispatch_claimed', to: 'DISPATCHING' };
    const third = { ...attempt, attemptNo: 3 };
    expect(patchOf({ status: 'QUEUED', currentAttemptNo: 1 }, claim, { attempt: third })).toEqual(
      expect.objectContaining({ currentAttemptNo: 3 }),
    );
  });
});
