import { isAttemptSettled } from '../../domain/attempt/statuses';
import type { Decision, Effect, TaskEvent } from '../../domain/generation/decision';
import { assertNever } from '../../domain/kernel/assert-never';
import type { MessagePayload, MessageType, OutboxMessage } from '../../ports/messages';
import type { FlowContext } from '../flow-context';
import type { EventInput } from './event-input';

/** The messages that a decision's effects ask for, to leave with its transaction. */
export const messagesOf = (
  context: FlowContext,
  input: EventInput,
  decision: Decision,
  now: Date,
): OutboxMessage[] => {
  const messages = decision.effects.flatMap((effect) => messageOf(context, input, effect, now));
  const ended = decision.attemptTo !== null && isAttemptSettled(decision.attemptTo);
  // A refusal may be charged without a job, and a charge may be told after the end.
  const learnt = input.attemptPatch?.costAmount !== undefined;
  if (input.attempt !== null && (learnt || (ended && input.attempt.jobId !== null))) {
    messages.push(
      compose(context, now, now, 'billing.cost.observed', {
        taskId: input.task.id,
        attemptId: input.attempt.id,
      }),
    );
  }
  const isWatched = decision.attemptTo === 'ABANDONED' || isInferredAbsence(decision, input.event);
  if (isWatched && input.attempt !== null) {
    const ids = { taskId: input.task.id, attemptId: input.attempt.id };
    const askAt = new Date(now.getTime() + WATCH_AFTER_MS);
    messages.push(compose(context, now, askAt, 'attempt.reconcile.requested', ids));
  }
  return messages;
};

/** That nothing was created was concluded, from a list or by a person, not said by the provider's own answer. */
export const isInferredAbsence = (decision: Decision, event: TaskEvent): boolean =>
  decision.attemptTo === 'FAILED_BEFORE_ACCEPT' &&
  (event.type === 'confirmed_not_created' || event.type === 'operator_declared_absent');

/** An attempt given up for lost, or believed absent, is asked after once more, and then less and less often. */
const WATCH_AFTER_MS = 30_000;

const messageOf = (
  context: FlowContext,
  input: EventInput,
  effect: Effect,
  now: Date,
): OutboxMessage[] => {
  const taskId = input.task.id;
  const availableAt = input.retryAt ?? now;
  switch (effect.kind) {
    case 'ANNOUNCE_QUEUED':
      return [compose(context, now, now, 'generation.queued', { taskId })];
    case 'REQUEST_DISPATCH':
      return [
        compose(context, now, now, 'attempt.dispatch.requested', {
          taskId,
          attemptId: attemptIdOf(input),
        }),
      ];
    case 'REQUEST_CANCEL':
      return [
        compose(context, now, availableAt, 'attempt.cancel.requested', {
          taskId,
          attemptId: attemptIdOf(input),
        }),
      ];
    case 'REQUEST_RECONCILE':
      return [
        compose(context, now, availableAt, 'attempt.reconcile.requested', {
          taskId,
          attemptId: attemptIdOf(input),
        }),
      ];
    case 'REQUEST_FETCH':
      return [
        compose(context, now, availableAt, 'output.fetch.requested', {
          taskId,
          attemptId: attemptIdOf(input),
        }),
      ];
    case 'REQUEST_MEDIA':
      if (input.rawAssetId === undefined || input.rawAssetId === null) {
        throw new Error('A media request needs the raw asset');
      }
      return [
        compose(context, now, availableAt, 'media.process.requested', {
          taskId,
          rawAssetId: input.rawAssetId,
        }),
      ];
    case 'CLOSE_HOLD':
    case 'FREE_SLOT':
    case 'RECORD_FINDING':
      return [];
    default:
      return assertNever(effect, 'effect');
  }
};

const attemptIdOf = (input: EventInput): string => {
  if (input.attempt === null) throw new Error(`Event ${input.event.type} needs an attempt`);
  return input.attempt.id;
};

const compose = <T extends MessageType>(
  context: FlowContext,
  now: Date,
  availableAt: Date,
  type: T,
  payload: MessagePayload<T>,
): OutboxMessage => ({ eventId: context.ids.next(now), type, payload, availableAt });
