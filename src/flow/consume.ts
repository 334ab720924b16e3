import { crashpoint } from '../ports/crash-points';
import type { ConsumerGroup, Envelope } from '../ports/messages';
import type { Stores } from '../ports/unit-of-work';
import type { FlowContext } from './flow-context';
import { together } from './together';

/** What became of one delivery. `RETRY` hands it back; nothing of it was committed. */
export type Consumed =
  | { readonly kind: 'APPLIED' }
  | { readonly kind: 'DUPLICATE' }
  | { readonly kind: 'RETRY'; readonly at: Date; readonly reason: string };

export const APPLIED: Consumed = { kind: 'APPLIED' };

/** A use case that reads one message. It may be called again with the same message at any time. */
export type Consumer = (envelope: Envelope, signal: AbortSignal) => Promise<Consumed>;

/**
 * Runs `work` once per group and event: the dedup row is the first write of the same transaction as the effect, so
 * that a crash leaves both or neither. A repeat is acknowledged and changes nothing: `work` begins beside the dedup row, to share
 * its round trip, and is rolled back when the row was there before.
 */
export const consumeOnce = async <T>(
  context: FlowContext,
  group: ConsumerGroup,
  envelope: Envelope,
  work: (tx: Stores) => Promise<T>,
): Promise<{ readonly consumed: Consumed; readonly result: T | null }> => {
  try {
    const result = await context.uow.transact(
      async (tx) => {
        const entered = tx.inbox.enter(group, envelope.eventId, context.clock.now());
        const [, done] = await together(refuseRepeat(entered), work(tx));
        return done;
      },
      { line: group, subject: envelope.aggregateId },
    );
    return { consumed: APPLIED, result };
  } catch (error) {
    if (!(error instanceof RepeatedDelivery)) throw error;
    return { consumed: { kind: 'DUPLICATE' }, result: null };
  }
};

const refuseRepeat = async (entered: Promise<boolean>): Promise<void> => {
  if (!(await entered)) throw new RepeatedDelivery();
  crashpoint('consume.after_inbox_before_effect');
};

/** Rolls the transaction of a repeat back. */
class RepeatedDelivery extends Error {}
