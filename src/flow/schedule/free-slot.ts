import type { Attempt } from '../../domain/attempt/attempt';
import { crashpoint } from '../../ports/crash-points';
import type { Slots } from '../../ports/slots';
import type { FlowContext } from '../flow-context';
import { giveSlotBack } from './give-slot-back';
import { takeSlotAgain } from './take-slot-again';

/**
 * Gives an attempt's slot back, after the commit that ended it; one whose job was found after its end gets one again. A slot is soft: when this fails, the reconciler finds the
 * leak from Postgres, so a failure here is logged and nothing else.
 */
export const freeSlotAfterCommit = async (
  context: FlowContext,
  slots: Slots,
  ended: {
    readonly freeSlot: boolean;
    readonly attempt: Attempt | null;
    readonly takeSlot?: boolean;
    readonly withdrawn?: Attempt;
  },
): Promise<void> => {
  if (ended.withdrawn !== undefined) {
    await freeSlotAfterCommit(context, slots, { freeSlot: true, attempt: ended.withdrawn });
  }
  if (ended.takeSlot === true && ended.attempt !== null) {
    await takeSlotAgain(context, slots, ended.attempt);
  }
  if (!ended.freeSlot || ended.attempt === null || ended.attempt.slotToken === null) return;
  crashpoint('slot.after_commit_before_release');
  await giveSlotBack(context, slots, ended.attempt.id, ended.attempt.slotToken);
  crashpoint('slot.after_release_before_ack');
};
