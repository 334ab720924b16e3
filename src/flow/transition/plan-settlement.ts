import type { Attempt } from '../../domain/attempt/attempt';
import { settle, type Settlement } from '../../domain/billing/settlement';
import type { TerminalTaskStatus } from '../../domain/generation/statuses';
import type { Task } from '../../domain/generation/task';
import type { OutboxMessage } from '../../ports/messages';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';
import { chargeKnowledgeOf } from './charge-knowledge';

/** What closing the hold of a generation that ends would book; null where no hold is open. */
export const planSettlement = async (
  tx: Stores,
  input: {
    readonly task: Task;
    readonly attempt: Attempt | null;
    readonly end: TerminalTaskStatus;
  },
): Promise<Settlement | null> => {
  const hold = await tx.money.readHoldToSettle(input.task.id);
  if (hold === null || hold.status === 'CLOSED') return null;
  const tenant = await tx.catalog.readTenant(input.task.tenantId);
  return settle({
    end: input.end,
    heldMicros: hold.amountMicros,
    deliveredMicros: input.task.priceMicros,
    charge: chargeKnowledgeOf(input.attempt),
    bearer: tenant?.chargedFailureBearer ?? 'PLATFORM',
  });
};

/** The settlement as the billing worker reads it, to book it when the ledger is back. */
export const settlementMessage = (
  context: FlowContext,
  taskId: string,
  attempt: Attempt | null,
  settlement: Settlement,
  now: Date,
): OutboxMessage => ({
  eventId: context.ids.next(now),
  type: 'billing.settlement.requested',
  payload: {
    taskId,
    attemptId: attempt?.id ?? null,
    settleMicros: settlement.settleMicros.toString(),
    releaseMicros: settlement.releaseMicros.toString(),
    reason: settlement.reason,
  },
  availableAt: now,
});
