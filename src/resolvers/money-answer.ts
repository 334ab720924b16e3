import type { Refusal } from '../domain/generation/refusals';
import type { Balance as BalanceRow } from '../ports/stores/money-store';
import { Balance } from './balance';

/** What every operator's order about credits answers; the payload classes add nothing to it. */
interface MoneyAnswer<Failure> {
  readonly balance: Balance | null;
  readonly repeated: boolean;
  readonly userErrors: readonly Failure[];
}

/** One mapping for grants, refunds and corrections: the balance afterwards, or why nothing was booked. */
export const moneyAnswer = <Code extends string, Failure>(
  outcome:
    | {
        readonly tenantId: string;
        readonly balance: BalanceRow;
        readonly repeated: boolean;
      }
    | Refusal<Code>,
  failureFrom: (refusal: Refusal<Code>) => Failure,
): MoneyAnswer<Failure> =>
  'balance' in outcome
    ? {
        balance: new Balance(outcome.tenantId, outcome.balance),
        repeated: outcome.repeated,
        userErrors: [],
      }
    : { balance: null, repeated: false, userErrors: [failureFrom(outcome)] };
