import type { OutboxMover, UnknownMessages } from '../../ports/stores/message-store';
import type { FlowContext } from '../flow-context';

/**
 * Raises the alarm when events do not leave: a message that has been due for too long, or a transaction that has written and
 * stays open, whose events nobody can see. One finding an hour; the log says it each time. Messages of types that this version does
 * not know are named when that changes: they are late for nobody here. Answers a function for the loop, which tells the longer
 * of the two waits in milliseconds.
 */
export const createRelayLagWatch = (
  context: FlowContext,
  mover: Pick<OutboxMover, 'lag'>,
): (() => Promise<number>) => {
  const tellUnknown = createUnknownTeller(context);
  return async () => {
    const now = context.clock.now();
    const { pendingMs, openWrite, unknown } = await mover.lag(now);
    tellUnknown(unknown);
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
};

const createUnknownTeller = ({
  log,
}: Pick<FlowContext, 'log'>): ((unknown: readonly UnknownMessages[]) => void) => {
  let told = '{}';
  return (unknown) => {
    const types = Object.fromEntries(unknown.map(({ type, count }) => [type, count]));
    const state = JSON.stringify(types);
    if (state === told) return;
    told = state;
    if (unknown.length === 0) {
      log.info('no message waits for a version that knows its type any more');
      return;
    }
    log.warn('messages wait for a version that knows their type; this one does not know it', {
      types,
      count: unknown.reduce((sum, { count }) => sum + count, 0),
    });
  };
};
