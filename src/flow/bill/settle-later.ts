import type { Settlement } from '../../domain/billing/settlement';
import { isTerminal } from '../../domain/generation/statuses';
import { backoffMs } from '../../domain/scheduling/retry-budget';
import { crashpoint } from '../../ports/crash-points';
import { payloadOf, type MessagePayload } from '../../ports/messages';
import { LedgerUnavailableError } from '../../ports/stores/money-store';
import type { Stores } from '../../ports/unit-of-work';
import { consumeOnce, type Consumed, type Consumer } from '../consume';
import type { FlowContext } from '../flow-context';
import { planSettlement, settlementMessage } from '../transition/plan-settlement';

const TRY_AGAIN = 4;

/**
 * Closes the hold of a generation that ended while the ledger was out of reach, with the settlement that was decided
 * then. A hold that is closed already stays as it is.
 */
export const createSettlementConsumer =
  (context: FlowContext): Consumer =>
  async (envelope) => {
    const planned = payloadOf(envelope, 'billing.settlement.requested');
    let consumed: Consumed;
    try {
      ({ consumed } = await consumeOnce(context, 'billing', envelope, async (tx) => {
        await bookSettlement(context, tx, planned);
        crashpoint('settle.before_commit');
      }));
    } catch (error) {
      if (!(error instanceof LedgerUnavailableError)) throw error;
      const waitMs = backoffMs('notify', TRY_AGAIN, context.random());
      const at = new Date(context.clock.now().getTime() + waitMs);
      return { kind: 'RETRY', at, reason: 'the ledger is still out of reach' };
    }
    crashpoint('settle.after_commit_before_ack');
    return consumed;
  };

const bookSettlement = async (
  context: FlowContext,
  tx: Stores,
  planned: MessagePayload<'billing.settlement.requested'>,
): Promise<void> => {
  // The repeat of a transaction that could not reach the ledger: this message is the way out, so it comes again itself.
  if (tx.money.settlesLater) throw new LedgerUnavailableError('The ledger is out of reach');
  const task = await tx.tasks.lock(planned.taskId);
  if (task === null) return;
  const hold = await tx.money.readHoldToSettle(task.id);
  if (hold?.status !== 'OPEN') return;
  const now = context.clock.now();
  const settlement: Settlement = {
    settleMicros: BigInt(planned.settleMicros),
    releaseMicros: BigInt(planned.releaseMicros),
    reason: planned.reason,
  };
  await tx.money.closeHold({
    taskId: task.id,
    tenantId: task.tenantId,
    settlement,
    attemptId: planned.attemptId,
    settleEntryId: context.ids.next(now),
    releaseEntryId: context.ids.next(now),
    now,
  });
  await tx.tasks.noteSettled(task.id, settlement.settleMicros);
};

const BATCH = 100;

/**
 * Generations that ended and whose hold is still open: the message of their settlement may be lost or dead. It is written
 * anew, by the one rule; closing twice is a no-op.
 */
export const rescueSettlements = async (context: FlowContext): Promise<number> => {
  const now = context.clock.now();
  const before = new Date(now.getTime() - context.settings.stuckAfterMs);
  const unsettled = await context.uow.stores.tasks.listUnsettled(before, BATCH);
  for (const taskId of unsettled) {
    await context.uow.transact((tx) => askToSettle(context, tx, taskId));
  }
  return unsettled.length;
};

const askToSettle = async (context: FlowContext, tx: Stores, taskId: string): Promise<boolean> => {
  const task = await tx.tasks.lock(taskId);
  if (task === null || !isTerminal(task.status)) return false;
  const attempts = await tx.attempts.listOfTask(taskId);
  const attempt = attempts.find((each) => each.attemptNo === task.currentAttemptNo) ?? null;
  const settlement = await planSettlement(tx, { task, attempt, end: task.status });
  if (settlement === null) return false;
  const now = context.clock.now();
  await tx.outbox.add(
    {
      type: 'generation',
      id: task.id,
      version: task.version,
      tenantId: task.tenantId,
      traceId: task.traceId,
      causationId: 'reconciler',
    },
    [settlementMessage(context, task.id, attempt, settlement, now)],
    now,
  );
  await tx.findings.record({
    id: context.ids.next(now),
    kind: 'UNBALANCED_HOLD',
    subjectKind: 'task',
    subjectId: task.id,
    tenantId: task.tenantId,
    detail: { status: task.status, finishedAt: task.finishedAt?.toISOString() ?? null },
    actionTaken: 'asked to settle again',
    now,
  });
  return true;
};
