import { ledgerKeys, type RefundOutcome } from '../../domain/billing/outcomes';
import { refuse, type Refusal } from '../../domain/generation/refusals';
import { formatCredits } from '../../domain/kernel/money';
import type { Balance, Refunded } from '../../ports/stores/money-store';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';

export type RefundRefusal =
  | 'GENERATION_NOT_FOUND'
  | 'AMOUNT_INVALID'
  | 'REASON_REQUIRED'
  | 'NOT_SETTLED'
  | 'OVER_LIMIT'
  | 'REFERENCE_CONFLICT'
  | 'BALANCE_TOO_LARGE';

export interface RefundInput {
  readonly taskId: string;
  /** Null: all that was not paid back yet. */
  readonly amountMicros: bigint | null;
  /** A repeat under it changes nothing; null counts this as one more refund. */
  readonly reference: string | null;
  /** For the ledger, as a stable word or a person's text. */
  readonly reason: string;
  readonly actor: string;
}

export interface Refund {
  readonly outcome: RefundOutcome;
  readonly amountMicros: bigint;
  readonly before: Refunded;
}

/**
 * Pays back what a generation was charged, for whoever decides it: a person, or a review that takes an output back. The hold
 * is locked first, so that the number of a refund and what is left for it are exact. Null: the generation never had a hold.
 */
export const refundInTransaction = async (
  context: FlowContext,
  tx: Stores,
  input: RefundInput,
): Promise<Refund | null> => {
  const before = await tx.money.lockRefunds(input.taskId);
  if (before === null) return null;
  const amountMicros = input.amountMicros ?? before.chargedMicros - before.givenBackMicros;
  // An entry of 0 would say nothing.
  if (amountMicros === 0n && before.status === 'CLOSED') {
    return { outcome: 'OVER_LIMIT', amountMicros, before };
  }
  const now = context.clock.now();
  const outcome = await tx.money.refund({
    taskId: input.taskId,
    tenantId: before.tenantId,
    amountMicros,
    businessKey:
      input.reference === null
        ? ledgerKeys.refund(input.taskId, before.refunds + 1)
        : ledgerKeys.refundByReference(input.taskId, input.reference),
    reason: input.reason,
    actor: input.actor,
    entryId: context.ids.next(now),
    now,
  });
  return { outcome, amountMicros, before };
};

export type RefundResult =
  | {
      readonly kind: 'REFUNDED';
      readonly repeated: boolean;
      readonly tenantId: string;
      readonly balance: Balance;
    }
  | Refusal<RefundRefusal>;

/** A person gives back what was charged for a generation, once a reference; never more than was charged. Audited. */
export const refundGeneration = async (
  context: FlowContext,
  input: RefundInput,
): Promise<RefundResult> => {
  if (input.reason.trim() === '') return refuse('REASON_REQUIRED', 'Say why.', 'reason');
  if (input.amountMicros !== null && input.amountMicros <= 0n) {
    return refuse('AMOUNT_INVALID', 'Give back more than 0.', 'amount');
  }
  return context.uow.transact(async (tx): Promise<RefundResult> => {
    const refund = await refundInTransaction(context, tx, input);
    if (refund === null) {
      return refuse(
        'GENERATION_NOT_FOUND',
        'There is no such generation, or nothing was ever reserved for it.',
        'generationId',
      );
    }
    const refusal = refusalOf(refund);
    if (refusal !== null) return refusal;
    if (refund.outcome === 'CREATED') await recordRefund(context, tx, input, refund);
    const balance = await tx.money.readBalance(refund.before.tenantId);
    if (balance === null) throw new Error('The account just credited cannot be read');
    return {
      kind: 'REFUNDED',
      repeated: refund.outcome === 'REPLAY',
      tenantId: refund.before.tenantId,
      balance,
    };
  });
};

const refusalOf = ({ outcome, before }: Refund): Refusal<RefundRefusal> | null => {
  const left = formatCredits(before.chargedMicros - before.givenBackMicros);
  switch (outcome) {
    case 'CREATED':
    case 'REPLAY':
      return null;
    case 'CONFLICT':
      return refuse(
        'REFERENCE_CONFLICT',
        'This reference stands for another amount; use a new one.',
        'reference',
      );
    case 'NO_HOLD':
    case 'NOT_SETTLED':
      return refuse(
        'NOT_SETTLED',
        'Nothing was charged yet: the reservation is still open.',
        'generationId',
      );
    case 'OVER_LIMIT':
      return refuse('OVER_LIMIT', `At most ${left} credits can be given back.`, 'amount');
    case 'BALANCE_TOO_LARGE':
      return refuse('BALANCE_TOO_LARGE', 'The account cannot hold so much.', 'amount');
  }
};

const recordRefund = async (
  context: FlowContext,
  tx: Stores,
  input: RefundInput,
  { amountMicros, before }: Refund,
): Promise<void> => {
  const now = context.clock.now();
  await tx.audit.record({
    id: context.ids.next(now),
    tenantId: before.tenantId,
    actor: input.actor,
    action: 'credits.refund',
    subjectKind: 'GENERATION',
    subjectId: input.taskId,
    reason: input.reason,
    before: {
      chargedMicros: before.chargedMicros.toString(),
      givenBackMicros: before.givenBackMicros.toString(),
    },
    after: {
      givenBackMicros: (before.givenBackMicros + amountMicros).toString(),
      amountMicros: amountMicros.toString(),
      reference: input.reference,
    },
    now,
  });
};
