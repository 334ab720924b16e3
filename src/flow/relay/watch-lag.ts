import type { OutboxMover } from '../../ports/stores/message-store';
import type { FlowContext } from '../flow-context';

/**
 * Raises the alarm when events do not leave: a message that has been due for too long, or a transaction that has written and
 * stays open, whose events nobody can see. One finding an hour; the log says it each time. Answers the longer of the two
 * waits in milliseconds.
 */
export const watchRelayLag = async (
  context: FlowContext,
  mover: Pick<OutboxMover, 'lag'>,
): Promise<number> => {
  const now = context.clock.now();
  const { pendingMs, openWrite } = await mover.lag(now);
  const openMs = openWrite?.openMs ?? 0;
  const lagMs = Math.max(pendingMs, openMs);
  if (lagMs < context.settings.relayLagAlarmMs) return lagMs;
  const detail = {
    pendingMs,
    openTransactionMs: openMs,
    openTransactionOf: openWrite?.name ?? null,
  };
  context.log.warn('the outbox lags behind', detail);
  await context.uow.stores.findings.record({
    id: context.ids.next(now),
    kind: 'RELAY_LAG',
    subjectKind: 'outbox',
    subjectId: now.toISOString().slice(0, 13),
    tenantId: null,
    detail,
    actionTaken: null,
    now,
  });
  return lagMs;
};
