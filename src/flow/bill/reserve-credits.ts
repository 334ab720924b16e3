import { refuse, type Refusal } from '../../domain/generation/refusals';
import { formatCredits } from '../../domain/kernel/money';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';

export type ReserveRefusal =
  'INSUFFICIENT_CREDITS' | 'BUDGET_EXCEEDED' | 'KEY_SPEND_LIMIT_EXCEEDED';

/**
 * Opens the hold of a generation that is accepted: the balance, the tenant's budget and the limit of its key must cover
 * the price. Null when they did; a refusal must roll the transaction back.
 */
export const reserveCredits = async (
  context: FlowContext,
  tx: Stores,
  task: {
    readonly id: string;
    readonly tenantId: string;
    readonly apiKeyId: string | null;
    readonly priceMicros: bigint;
  },
  now: Date,
): Promise<Refusal<ReserveRefusal> | null> => {
  const outcome = await tx.money.openHold({
    taskId: task.id,
    tenantId: task.tenantId,
    apiKeyId: task.apiKeyId,
    amountMicros: task.priceMicros,
    holdId: context.ids.next(now),
    entryId: context.ids.next(now),
    now,
  });
  const price = formatCredits(task.priceMicros);
  switch (outcome.kind) {
    case 'CREATED':
      return null;
    case 'INSUFFICIENT_CREDITS':
      return refuse(
        'INSUFFICIENT_CREDITS',
        'The balance does not cover the price of this generation.',
      );
    case 'BUDGET_EXCEEDED':
      return refuse(
        'BUDGET_EXCEEDED',
        `The account's budget of this month has ${formatCredits(outcome.leftMicros)} credits left; this generation costs ${price}.`,
      );
    case 'KEY_SPEND_LIMIT_EXCEEDED':
      return refuse(
        'KEY_SPEND_LIMIT_EXCEEDED',
        `The limit of the API key has ${formatCredits(outcome.leftMicros)} credits left; this generation costs ${price}.`,
      );
    case 'REPLAY':
    case 'CONFLICT':
      throw new Error(`A generation that is only now accepted already has a hold: ${outcome.kind}`);
  }
};
