import { payloadOf } from '../../ports/messages';
import { APPLIED, consumeOnce, type Consumer } from '../consume';
import type { FlowContext } from '../flow-context';
import { dispatchTask, type DispatchOutcome, type ScheduleDeps } from './dispatch-task';

/**
 * Serves waiting tasks in fair order until nothing is due, the platform is full, or `limit` were tried. The queue is the
 * task table itself: a lost message costs time, never a task.
 */
export const runSchedulePass = async (
  context: FlowContext,
  deps: ScheduleDeps,
  limit: number,
): Promise<{ readonly dispatched: number; readonly waiting: number }> => {
  const candidates = await context.uow.stores.tasks.listCandidates(context.clock.now(), limit);
  let dispatched = 0;
  let waiting = 0;
  const full = new Set<string>();
  for (const candidate of candidates) {
    if (full.has(`tenant:${candidate.tenantId}`)) continue;
    const outcome = await dispatchTask(context, deps, candidate.taskId, null);
    if (outcome.kind === 'DISPATCHED') dispatched += 1;
    if (outcome.kind === 'WAITING') {
      waiting += 1;
      if (outcome.scope === 'platform') break;
      if (outcome.scope !== null) full.add(outcome.scope);
    }
  }
  return { dispatched, waiting };
};

/** A newly queued task is served at once when nobody waits before it, else in its turn of the next pass. */
export const createQueuedConsumer =
  (context: FlowContext, deps: ScheduleDeps): Consumer =>
  async (envelope) => {
    const { taskId } = payloadOf(envelope, 'generation.queued');
    const waiting = await context.uow.stores.tasks.countWaiting(context.clock.now());
    const outcome: DispatchOutcome =
      waiting === 0
        ? await dispatchTask(context, deps, taskId, envelope)
        : { kind: 'WAITING', reason: 'BEHIND_OTHERS', scope: null };
    if (outcome.kind === 'DISPATCHED' || outcome.kind === 'ENDED') return APPLIED;
    // Nothing was committed for the task in this message's name; the table keeps it waiting, the message is done.
    const { consumed } = await consumeOnce(context, 'scheduler', envelope, async () => undefined);
    if (waiting > 0) await runSchedulePass(context, deps, 50);
    return consumed;
  };
