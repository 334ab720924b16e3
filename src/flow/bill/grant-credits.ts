import { ledgerKeys } from '../../domain/billing/outcomes';
import { refuse, type Refusal } from '../../domain/generation/refusals';
import { MICROS_PER_CREDIT } from '../../domain/kernel/money';
import { crashpoint } from '../../ports/crash-points';
import type { Balance } from '../../ports/stores/money-store';
import type { FlowContext } from '../flow-context';
import {
  act,
  done,
  namingNotFound,
  repeated,
  type OperatorOrder,
} from '../operate/operator-action';
import { openAccount } from './open-account';

export type GrantRefusal =
  | 'TENANT_NOT_FOUND'
  | 'AMOUNT_INVALID'
  | 'BALANCE_TOO_LARGE'
  | 'REASON_REQUIRED'
  | 'REFERENCE_CONFLICT';

/** One grant; far below what a balance can hold, so that a slip of the hand is refused. */
const GRANT_CREDITS_MAX = 1_000_000_000n;

/** Adds credits to an account, once for each reference, with a trace of who and why. A repeat changes nothing. */
export const grantCredits = async (
  context: FlowContext,
  input: OperatorOrder & {
    readonly tenantId: string;
    readonly amountMicros: bigint;
    readonly reference: string;
  },
): Promise<
  | { readonly kind: 'GRANTED'; readonly repeated: boolean; readonly balance: Balance }
  | Refusal<GrantRefusal>
> => {
  const acted = await act(
    context,
    'credits.grant',
    input,
    (tx) => openAccount(tx, input.tenantId),
    async (tx) => {
      const wrong = judgeAmount(input.amountMicros);
      if (wrong !== null) return wrong;
      const now = context.clock.now();
      const outcome = await tx.money.grant({
        tenantId: input.tenantId,
        amountMicros: input.amountMicros,
        businessKey: ledgerKeys.grant(input.tenantId, input.reference),
        reason: input.reason,
        actor: input.actor,
        entryId: context.ids.next(now),
        now,
      });
      if (outcome === 'BALANCE_TOO_LARGE') {
        return refuse('BALANCE_TOO_LARGE', 'The account cannot hold so much.', 'amount');
      }
      if (outcome === 'CONFLICT') {
        return refuse(
          'REFERENCE_CONFLICT',
          'This reference stands for another amount; use a new one.',
          'reference',
        );
      }
      const balance = await tx.money.readBalance(input.tenantId);
      if (balance === null) throw new Error('The account just credited cannot be read');
      crashpoint('operator.after_grant_before_commit');
      if (outcome === 'REPLAY') return repeated({ repeated: true, balance });
      return done(
        { repeated: false, balance },
        {
          availableMicros: balance.availableMicros.toString(),
          amountMicros: input.amountMicros.toString(),
          reference: input.reference,
        },
      );
    },
  );
  const told = namingNotFound(
    acted,
    refuse('TENANT_NOT_FOUND', 'There is no such account.', 'tenantId'),
  );
  return told.kind === 'REFUSED' ? told : { kind: 'GRANTED', ...told.result };
};

const judgeAmount = (amountMicros: bigint): Refusal<GrantRefusal> | null => {
  if (amountMicros <= 0n) return refuse('AMOUNT_INVALID', 'Grant more than 0.', 'amount');
  return amountMicros > GRANT_CREDITS_MAX * MICROS_PER_CREDIT
    ? refuse('AMOUNT_INVALID', `Grant at most ${GRANT_CREDITS_MAX} credits at once.`, 'amount')
    : null;
};
