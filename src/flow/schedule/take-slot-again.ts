import type { Attempt } from '../../domain/attempt/attempt';
import { holdsSlot } from '../../domain/attempt/statuses';
import type { Slots } from '../../ports/slots';
import type { FlowContext } from '../flow-context';
import { giveSlotBack } from './give-slot-back';
import { listSlotHolders } from './list-slot-holders';

/**
 * Gives a slot to an attempt whose job was found after its slot had gone, after the commit that says so. The job runs whatever the
 * limits say: where they leave no place, slots are rebuilt from the facts. The attempt keeps the token that will release it.
 * A slot is soft: when this fails, the reconciler finds what lacks from Postgres, so a failure here is logged and nothing else.
 */
export const takeSlotAgain = async (
  context: FlowContext,
  slots: Slots,
  attempt: Attempt,
): Promise<void> => {
  try {
    const token = await takeSlot(context, slots, attempt.id);
    if (token === null) return;
    if (!(await noteToken(context, attempt, token))) {
      await giveSlotBack(context, slots, attempt.id, token);
    }
  } catch (error) {
    context.log.warn('slot of a found job could not be taken; the reconciler will', {
      attemptId: attempt.id,
      error: String(error),
    });
  }
};

/** Null: it is over, or its slot goes to nobody. */
const takeSlot = async (
  context: FlowContext,
  slots: Slots,
  attemptId: string,
): Promise<bigint | null> => {
  const holders = await listSlotHolders(context);
  const scopes = holders.find(({ holder }) => holder === attemptId)?.scopes;
  if (scopes === undefined) return null;
  const { slotTtlMs } = context.settings;
  const now = context.clock.now();
  const taken = await slots.acquire(attemptId, scopes, slotTtlMs, now);
  if (taken.kind === 'ACQUIRED') return taken.token;
  const rebuilt = await slots.rebuild(holders, slotTtlMs, now);
  context.log.info('slots were rebuilt: a found job runs beyond a limit', {
    attemptId,
    scope: taken.scope,
    ...rebuilt,
  });
  const present = await slots.acquire(attemptId, scopes, slotTtlMs, now);
  return present.kind === 'ACQUIRED' ? present.token : null;
};

/** False: it ended meanwhile, and its end released another token. */
const noteToken = async (context: FlowContext, seen: Attempt, token: bigint): Promise<boolean> =>
  context.uow.transact(async (tx) => {
    const attempt = await tx.attempts.lock(seen.id);
    if (attempt === null || !holdsSlot(attempt.status)) return false;
    await tx.attempts.patch(attempt, null, { slotToken: token }, context.clock.now());
    return true;
  });
