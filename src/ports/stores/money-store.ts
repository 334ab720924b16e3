import type {
  AdjustOutcome,
  CloseHoldOutcome,
  GrantOutcome,
  OpenHoldOutcome,
  ProviderCostOutcome,
  RefundOutcome,
} from '../../domain/billing/outcomes';
import type { Settlement } from '../../domain/billing/settlement';

export interface Hold {
  readonly id: string;
  readonly tenantId: string;
  readonly taskId: string;
  readonly amountMicros: bigint;
  readonly status: 'OPEN' | 'CLOSED';
  readonly settledMicros: bigint | null;
  readonly closeReason: string | null;
}

export interface Balance {
  readonly availableMicros: bigint;
  readonly heldMicros: bigint;
}

/** What a generation was charged so far, and what of that was given back. */
export interface Refunded {
  readonly tenantId: string;
  readonly status: Hold['status'];
  /** By the settlement and by adjustments. */
  readonly chargedMicros: bigint;
  /** By refunds and by adjustments. */
  readonly givenBackMicros: bigint;
  readonly refunds: number;
}

export type SpendPeriod = 'MONTH' | 'TOTAL';

export interface SpendLimit {
  /** Null: of the tenant as a whole. */
  readonly apiKeyId: string | null;
  /** A calendar month in UTC, or the whole life of the key. */
  readonly period: SpendPeriod;
  readonly limitMicros: bigint;
  /** What the holds opened in the period hold or settled, less what was given back. */
  readonly spentMicros: bigint;
}

/** Who moves credits, under which key, and why. */
interface Movement {
  readonly tenantId: string;
  readonly amountMicros: bigint;
  readonly businessKey: string;
  readonly reason: string;
  readonly actor: string;
  readonly entryId: string;
  readonly now: Date;
}

/**
 * Each operation is a conditional update of one account row plus its ledger entries. An account that stays locked, or a
 * ledger that does not answer, for longer than the configured wait is a `LedgerUnavailableError` where that wait is bound.
 */
export interface MoneyStore {
  /** From now on this transaction waits for no lock longer than the configured wait. */
  boundWait(): Promise<void>;
  openHold(input: {
    readonly taskId: string;
    readonly tenantId: string;
    readonly apiKeyId: string | null;
    readonly amountMicros: bigint;
    readonly holdId: string;
    readonly entryId: string;
    readonly now: Date;
  }): Promise<OpenHoldOutcome>;
  readHold(taskId: string): Promise<Hold | null>;
  /** As `readHold`, in the transaction that ends the generation; bounds the wait for what follows. */
  readHoldToSettle(taskId: string): Promise<Hold | null>;
  /**
   * This transaction is the repeat of one that could not reach the ledger: what is to be settled must leave by the
   * outbox. `closeHold` must not be called.
   */
  readonly settlesLater: boolean;
  /**
   * One compare-and-set on the hold's status; a second close of any kind answers ALREADY_CLOSED and does nothing. Where
   * the ledger is out of reach the transaction is repeated with `settlesLater`.
   */
  closeHold(input: {
    readonly taskId: string;
    /** Whose account it is: its place in the order of locks. */
    readonly tenantId: string;
    readonly settlement: Settlement;
    readonly attemptId: string | null;
    readonly settleEntryId: string;
    readonly releaseEntryId: string;
    readonly now: Date;
  }): Promise<CloseHoldOutcome>;
  /** Opens the account when the tenant has none. REPLAY for the same key and amount, CONFLICT for another amount. */
  grant(input: Movement): Promise<GrantOutcome>;
  /** Locks the hold of a generation and answers what was given back: what depends on the sum comes one by one. */
  lockRefunds(taskId: string): Promise<Refunded | null>;
  /** All that is given back of a task never exceeds what it was charged (OVER_LIMIT). Locks the hold. */
  refund(input: Movement & { readonly taskId: string }): Promise<RefundOutcome>;
  /**
   * A correction by a signed amount; never below zero, and never of a hold. Of a task it never gives back more than is left of
   * what the task was charged (OVER_LIMIT), and locks the hold.
   */
  adjust(
    input: Omit<Movement, 'amountMicros'> & {
      readonly deltaMicros: bigint;
      readonly taskId: string | null;
      readonly attemptId: string | null;
    },
  ): Promise<AdjustOutcome>;
  readBalance(tenantId: string): Promise<Balance | null>;
  listSpendLimits(tenantId: string, now: Date): Promise<SpendLimit[]>;
  /**
   * Replaces the limit of a tenant, or of one of its keys; null takes it away. Answers the former one. What was spent
   * before counts. NO_ACCOUNT: the tenant has no account; NO_KEY: no living key of this tenant.
   */
  setSpendLimit(input: {
    readonly id: string;
    readonly tenantId: string;
    readonly apiKeyId: string | null;
    readonly limit: { readonly period: SpendPeriod; readonly limitMicros: bigint } | null;
    readonly now: Date;
  }): Promise<
    | 'NO_ACCOUNT'
    | 'NO_KEY'
    | { readonly former: { readonly period: SpendPeriod; readonly limitMicros: bigint } | null }
  >;
  /** What a provider charged the platform; once per key, CONFLICT for another amount or currency. */
  recordProviderCost(input: {
    readonly id: string;
    readonly providerId: string;
    readonly attemptId: string | null;
    readonly jobId: string | null;
    readonly source: 'ATTEMPT' | 'INVOICE';
    readonly amount: string;
    readonly currency: string;
    readonly rateMicros: bigint;
    readonly businessKey: string;
    readonly now: Date;
  }): Promise<ProviderCostOutcome>;
}

/** The ledger did not answer within the configured wait; nothing was booked, and a later try may succeed. */
export class LedgerUnavailableError extends Error {
  readonly code = 'BILLING_UNAVAILABLE';
}
