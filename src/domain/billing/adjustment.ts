import type { TerminalTaskStatus } from '../generation/statuses';
import { minMicros, type Micros } from '../kernel/money';
import { settle, type ChargedFailureBearer } from './settlement';

export interface SettledHold {
  readonly end: TerminalTaskStatus;
  readonly heldMicros: Micros;
  readonly settledMicros: Micros;
  /** By refunds and adjustments, less what adjustments charged. */
  readonly givenBackMicros: Micros;
  readonly deliveredMicros: Micros;
  readonly bearer: ChargedFailureBearer;
}

/**
 * By how much an invoice changes what a tenant can spend, now that the charge of the attempt is known: the one rule of
 * settlement is asked again with it, and the difference to what was settled is the answer. Below 0 the tenant owes, which
 * only a contract allows by which it bears charges; above 0 it paid by a charge that was less. Never more than the quote
 * in all, never more back than was paid.
 */
export const adjustmentAfterInvoice = (hold: SettledHold, costMicros: Micros): Micros => {
  const { settleMicros } = settle({
    end: hold.end,
    heldMicros: hold.heldMicros,
    deliveredMicros: hold.deliveredMicros,
    charge: costMicros === 0n ? { kind: 'NOT_CHARGED' } : { kind: 'CHARGED', costMicros },
    bearer: hold.bearer,
  });
  const delta = hold.settledMicros - settleMicros;
  if (delta < 0n) return hold.bearer === 'TENANT' ? delta : 0n;
  return minMicros(delta, hold.settledMicros - hold.givenBackMicros);
};
