/** Money operations answer one of these; nothing about money is told by an exception's words. */
export type OpenHoldOutcome = 'CREATED' | 'REPLAY' | 'CONFLICT' | 'INSUFFICIENT_CREDITS';
export type CloseHoldOutcome = 'CLOSED' | 'ALREADY_CLOSED' | 'NO_HOLD';
export type PostEntryOutcome =
  'CREATED' | 'REPLAY' | 'CONFLICT' | 'INSUFFICIENT_CREDITS' | 'OVER_LIMIT';

export const LEDGER_KINDS = [
  'RESERVE',
  'SETTLE',
  'RELEASE',
  'REFUND',
  'ADJUSTMENT',
  'GRANT',
] as const;
export type LedgerKind = (typeof LEDGER_KINDS)[number];

/** Business keys: each credit movement can happen once. */
export const ledgerKeys = {
  reserve: (taskId: string): string => `reserve:${taskId}`,
  settle: (taskId: string): string => `settle:${taskId}`,
  release: (taskId: string): string => `release:${taskId}`,
  refund: (taskId: string, n: number): string => `refund:${taskId}:${n}`,
  adjustment: (attemptId: string, invoiceItem: string): string =>
    `adjustment:${attemptId}:${invoiceItem}`,
  grant: (reference: string): string => `grant:${reference}`,
} as const;
