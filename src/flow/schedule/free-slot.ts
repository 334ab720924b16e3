import type { Attempt } from '../../domain/attempt/attempt';
import { crashpoint } from '../../ports/crash-points';
import type { Slots } from '../../ports/slots';
import type { FlowContext } from '../flow-context';

/**
 * Gives an attempt's slot back, after the commit that ended it. A slot is soft: when this fails, the reconciler finds the
 * leak from Postgres, so a failure here is logged and nothing else.
 */
export const freeSlotAfterCommit = async (
  context: FlowContext,
  slots: Slots,
  ended: {
    readonly freeSlot: boolean;
    readonly attempt: Attempt | null;
    readonly withdrawn?: Attempt;
  },
): Promise<void> => {
  if (ended.withdrawn !== undefined) {
    await freeSlotAfterCommit(context, slots, { freeSlot: true, attempt: ended.withdrawn });
  }
  if (!ended.freeSlot || ended.attempt === null || ended.attempt.slotToken === null) return;
  crashpoint('slot.after_commit_before_release');
  await giveSlotBack(context, slots, ended.attempt.id, ended.attempt.slotToken);
  crashpoint('slot.after_release_before_ack');
};

/** Tells nobody but the log when it fails. */
export const giveSlotBack = async (
  context: FlowContext,
  slots: Slots,
  attemptId: string,
  token: bigint,
): Promise<void> => {
  try {
    await slots.release(attemptId, token, context.clock.now());
  } catch (error) {
    context.log.warn('slot could not be released; the reconciler will', {
      attemptId,
      error: String(error),
    });
  }
};
