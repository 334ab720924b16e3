import type { TerminalTaskStatus } from '../generation/statuses';
import { minMicros, type Micros } from '../kernel/money';

export type ChargedFailureBearer = 'PLATFORM' | 'TENANT';

/** What is known of the provider's charge when a generation ends. */
export type ChargeKnowledge =
  | { readonly kind: 'NOT_SUBMITTED' }
  | { readonly kind: 'NOT_CHARGED' }
  | { readonly kind: 'CHARGED'; readonly costMicros: Micros }
  | { readonly kind: 'UNKNOWN' };

export interface SettlementInput {
  readonly end: TerminalTaskStatus;
  /** The hold: the quote's price. A tenant never pays more without an explicit contract. */
  readonly heldMicros: Micros;
  /** Price of what was delivered; only read for SUCCEEDED. */
  readonly deliveredMicros: Micros;
  readonly charge: ChargeKnowledge;
  readonly bearer: ChargedFailureBearer;
}

export interface Settlement {
  readonly settleMicros: Micros;
  readonly releaseMicros: Micros;
  readonly reason: SettlementReason;
}

export const SETTLEMENT_REASONS = [
  'DELIVERED',
  'NEVER_SUBMITTED',
  'NOT_CHARGED',
  'CANCELED_CHARGED',
  'EXPIRED_CHARGED',
  'CHARGED_PLATFORM_BEARS',
  'CHARGED_TENANT_BEARS',
  'CHARGE_UNKNOWN_RELEASED',
] as const;
export type SettlementReason = (typeof SETTLEMENT_REASONS)[number];

/**
 * The one settlement rule for every way a generation can end. Pure; the store closes the hold with its
 * answer once, guarded by the hold's status. Facts that come later are keyed compensations of their own.
 */
export const settle = (input: SettlementInput): Settlement => {
  const release = (reason: SettlementReason): Settlement => ({
    settleMicros: 0n,
    releaseMicros: input.heldMicros,
    reason,
  });
  const charge = (amount: Micros, reason: SettlementReason): Settlement => {
    const settleMicros = minMicros(amount < 0n ? 0n : amount, input.heldMicros);
    return { settleMicros, releaseMicros: input.heldMicros - settleMicros, reason };
  };
  if (input.end === 'SUCCEEDED') return charge(input.deliveredMicros, 'DELIVERED');
  switch (input.charge.kind) {
    case 'NOT_SUBMITTED':
      return release('NEVER_SUBMITTED');
    case 'NOT_CHARGED':
      return release('NOT_CHARGED');
    case 'UNKNOWN':
      return release('CHARGE_UNKNOWN_RELEASED');
    case 'CHARGED':
      // Stopped on request or by its deadline, a job costs what the provider's rule says; a failure
      // is the platform's, unless the contract says otherwise.
      if (input.end === 'CANCELED') return charge(input.charge.costMicros, 'CANCELED_CHARGED');
      if (input.end === 'EXPIRED') return charge(input.charge.costMicros, 'EXPIRED_CHARGED');
      return input.bearer === 'TENANT'
        ? charge(input.charge.costMicros, 'CHARGED_TENANT_BEARS')
        : release('CHARGED_PLATFORM_BEARS');
  }
};
