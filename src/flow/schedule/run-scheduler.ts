import { crashpoint } from '../../ports/crash-points';
import { payloadOf } from '../../ports/messages';
import { DatabaseUnavailableError } from '../../ports/unit-of-work';
import { APPLIED, type Consumer } from '../consume';
import type { FlowContext } from '../flow-context';
import { dispatchTask, type DispatchOutcome, type ScheduleDeps } from './dispatch-task';

/** Dispatches under way at once within a pass: each waits for the database most of its time. */
const PASS_PARALLEL = 16;

/**
 * Serves waiting tasks in fair order until nothing is due, the platform is full, or `limit` were tried. The queue is the
 * task table itself: a lost message costs time, never a task. Tasks that were put back for want of a slot are looked at
 * again before their time: a slot may have come free meanwhile.
 */
export const runSchedulePass = async (
  context: FlowContext,
  deps: ScheduleDeps,
  limit: number,
): Promise<{ readonly dispatched: number; readonly waiting: number }> => {
  const horizon = scheduleHorizon(context);
  const candidates = await context.uow.stores.tasks.listCandidates(horizon, limit);
  const full = new Set<string>();
  const outcomes: DispatchOutcome[] = [];
  let next = 0;
  const serve = async (): Promise<void> => {
    for (
      let candidate = candidates[next++];
      candidate !== undefined;
      candidate = candidates[next++]
    ) {
      if (full.has('platform') || full.has(`tenant:${candidate.tenantId}`)) continue;
      const outcome = await tryDispatch(context, deps, candidate.taskId);
      if (outcome === null) continue;
      if (outcome.kind === 'WAITING' && outcome.scope !== null) full.add(outcome.scope);
      outcomes.push(outcome);
    }
  };
  await Promise.all(Array.from({ length: PASS_PARALLEL }, serve));
  return {
    dispatched: outcomes.filter((outcome) => outcome.kind === 'DISPATCHED').length,
    waiting: outcomes.filter((outcome) => outcome.kind === 'WAITING').length,
  };
};

/** What a pass looks at: also what was put back for a moment, for want of a slot. */
export const scheduleHorizon = (context: FlowContext): Date =>
  new Date(context.clock.now().getTime() + context.settings.admissionRetryMs);

/** One task that cannot be dispatched must not keep the others waiting; null when it failed. */
const tryDispatch = async (
  context: FlowContext,
  deps: ScheduleDeps,
  taskId: string,
): Promise<DispatchOutcome | null> => {
  try {
    return await dispatchTask(context, deps, taskId, null);
  } catch (error) {
    if (error instanceof DatabaseUnavailableError) throw error;
    context.log.error('a task could not be dispatched', { taskId, error: String(error) });
    return null;
  }
};

/** A newly queued task is served at once when it is alone in the queue, else in its turn of the next pass. */
export const createQueuedConsumer =
  (context: FlowContext, deps: ScheduleDeps): Consumer =>
  async (envelope) => {
    const { taskId } = payloadOf(envelope, 'generation.queued');
    const waiting = await context.uow.stores.tasks.countWaiting(context.clock.now());
    if (waiting <= 1) {
      const outcome = await dispatchTask(context, deps, taskId, envelope);
      crashpoint('schedule.after_commit_before_ack');
      if (outcome.kind === 'DISPATCHED' || outcome.kind === 'ENDED') return APPLIED;
    }
    // Nothing was committed for the task in this message's name; the table keeps it waiting, the message is done.
    const { inbox } = context.uow.stores;
    const first = await inbox.enter('scheduler', envelope.eventId, context.clock.now());
    if (waiting > 1) deps.requestPass();
    return first ? APPLIED : { kind: 'DUPLICATE' };
  };
