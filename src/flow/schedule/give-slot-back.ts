import type { Slots } from '../../ports/slots';
import type { FlowContext } from '../flow-context';

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
