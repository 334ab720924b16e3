import type { Micros } from '../kernel/money';

/** Money operations answer one of these; nothing about money is told by an exception's words. */
export type OpenHoldOutcome =
  | { readonly kind: 'CREATED' | 'REPLAY' | 'CONFLICT' | 'INSUFFICIENT_CREDITS' }
  | {
      /** The tenant's budget of the month, or the limit of the key, does not cover the amount. */
      readonly kind: 'BUDGET_EXCEEDED' | 'KEY_SPEND_LIMIT_EXCEEDED';
      readonly leftMicros: Micros;
    };
export type CloseHoldOutcome = 'CLOSED' | 'ALREADY_CLOSED' | 'NO_HOLD';
export type GrantOutcome = 'CREATED' | 'REPLAY' | 'CONFLICT' | 'BALANCE_TOO_LARGE';
export type RefundOutcome = GrantOutcome | 'NO_HOLD' | 'NOT_SETTLED' | 'OVER_LIMIT';
export type AdjustOutcome = GrantOutcome | 'NO_ACCOUNT' | 'INSUFFICIENT_CREDITS' | 'OVER_LIMIT';
export type ProviderCostOutcome = 'CREATED' | 'REPLAY' | 'CONFLICT';

export const LEDGER_KINDS = [
  'RESERVE',
  'SETTLE',
  'RELEASE',
  'REFUND',
  'ADJUSTMENT',
  'GRANT',
] as const;
export type LedgerKind = (typeof LEDGER_KINDS)[number];

/**
 * Business keys: each credit movement can happen once. What others name stands behind a word of ours, a caller's reference
 * behind `ref:` and an item of an invoice behind `item:`, so that no choice of theirs meets another's, or a number that was
 * counted here.
 */
export const ledgerKeys = {
  reserve: (taskId: string): string => `reserve:${taskId}`,
  settle: (taskId: string): string => `settle:${taskId}`,
  release: (taskId: string): string => `release:${taskId}`,
  /** The n-th refund of a generation, counted under the lock of its hold. */
  refund: (taskId: string, n: number): string => `refund:${taskId}:${n}`,
  refundByReference: (taskId: string, reference: string): string =>
    `refund:${taskId}:ref:${reference}`,
  adjustment: (attemptId: string, invoiceItem: string): string =>
    `adjustment:${attemptId}:item:${invoiceItem}`,
  /** By hand; the subject is an attempt or a tenant. */
  adjustmentByReference: (subjectId: string, reference: string): string =>
    `adjustment:${subjectId}:ref:${reference}`,
  /** A reference stands last, behind the id of a tenant: no other grant begins so. */
  grant: (tenantId: string, reference: string): string => `grant:${tenantId}:${reference}`,
  /** Of a database that is new. */
  firstGrant: (tenantId: string): string => `grant:first-start:${tenantId}`,
  attemptCost: (attemptId: string): string => `cost:${attemptId}`,
  invoiceCost: (providerId: string, itemKey: string): string => `invoice:${providerId}:${itemKey}`,
} as const;

/** For a charge that an invoice does not list; no id of an item has a space. */
export const unchargedItemKey = (attemptId: string): string => `uncharged ${attemptId}`;
