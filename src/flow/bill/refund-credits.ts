import { ledgerKeys, type RefundOutcome } from '../../domain/billing/outcomes';
import { refuse, type Refusal } from '../../domain/generation/refusals';
import { formatCredits } from '../../domain/kernel/money';
import type { Balance, Refunded } from '../../ports/stores/money-store';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';
import {
  act,
  done,
  namingNotFound,
  repeated,
  type Done,
  type Subject,
} from '../operate/operator-action';

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

interface Paid {
  readonly repeated: boolean;
  readonly tenantId: string;
  readonly balance: Balance;
}

export type RefundResult = ({ readonly kind: 'REFUNDED' } & Paid) | Refusal<RefundRefusal>;

/** A person gives back what was charged for a generation, once a reference; never more than was charged. Audited. */
export const refundGeneration = async (
  context: FlowContext,
  input: RefundInput,
): Promise<RefundResult> => {
  const acted = await act(
    context,
    'credits.refund',
    input,
    (tx) => openCharged(tx, input.taskId),
    async (tx): Promise<Done<Paid> | Refusal<RefundRefusal>> => {
      if (input.amountMicros !== null && input.amountMicros <= 0n) {
        return refuse('AMOUNT_INVALID', 'Give back more than 0.', 'amount');
      }
      const refund = await refundInTransaction(context, tx, {
        ...input,
        reason: input.reason.trim(),
      });
      if (refund === null) return NOTHING_RESERVED;
      const refusal = refusalOf(refund);
      if (refusal !== null) return refusal;
      const { tenantId } = refund.before;
      const balance = await tx.money.readBalance(tenantId);
      if (balance === null) throw new Error('The account just credited cannot be read');
      return refund.outcome === 'REPLAY'
        ? repeated({ repeated: true, tenantId, balance })
        : done({ repeated: false, tenantId, balance }, factsAfter(input, refund));
    },
  );
  const told = namingNotFound(acted, NOTHING_RESERVED);
  return told.kind === 'REFUSED' ? told : { kind: 'REFUNDED', ...told.result };
};

const NOTHING_RESERVED = refuse<RefundRefusal>(
  'GENERATION_NOT_FOUND',
  'There is no such generation, or nothing was ever reserved for it.',
  'generationId',
);

/** The hold of a generation is locked, where it has one. */
const openCharged = async (tx: Stores, taskId: string): Promise<Subject<string> | null> => {
  const task = await tx.tasks.read(taskId);
  if (task === null) return null;
  const charged = await tx.money.lockRefunds(taskId);
  return {
    kind: 'GENERATION',
    id: task.id,
    tenantId: task.tenantId,
    before: {
      chargedMicros: charged?.chargedMicros.toString() ?? null,
      givenBackMicros: charged?.givenBackMicros.toString() ?? null,
    },
    row: task.id,
  };
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

const factsAfter = (
  { reference }: RefundInput,
  { amountMicros, before }: Refund,
): Readonly<Record<string, unknown>> => ({
  givenBackMicros: (before.givenBackMicros + amountMicros).toString(),
  amountMicros: amountMicros.toString(),
  reference,
});
