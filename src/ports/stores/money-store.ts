import type {
  CloseHoldOutcome,
  OpenHoldOutcome,
  PostEntryOutcome,
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

/** Each operation is a conditional update of one account row plus its ledger entries. */
export interface MoneyStore {
  openHold(input: {
    readonly taskId: string;
    readonly tenantId: string;
    readonly amountMicros: bigint;
    readonly holdId: string;
    readonly entryId: string;
    readonly now: Date;
  }): Promise<OpenHoldOutcome>;
  readHold(taskId: string): Promise<Hold | null>;
  /** One compare-and-set on the hold's status; a second close of any kind answers ALREADY_CLOSED and does nothing. */
  closeHold(input: {
    readonly taskId: string;
    readonly settlement: Settlement;
    readonly attemptId: string | null;
    readonly settleEntryId: string;
    readonly releaseEntryId: string;
    readonly now: Date;
  }): Promise<CloseHoldOutcome>;
  /** Opens the account when the tenant has none. REPLAY for the same key and amount, CONFLICT for another amount. */
  grant(input: {
    readonly tenantId: string;
    readonly amountMicros: bigint;
    readonly businessKey: string;
    readonly reason: string;
    readonly actor: string;
    readonly entryId: string;
    readonly now: Date;
  }): Promise<PostEntryOutcome>;
  /** Sum of refunds of a task never exceeds its settled amount (OVER_LIMIT). */
  refund(input: {
    readonly taskId: string;
    readonly tenantId: string;
    readonly amountMicros: bigint;
    readonly businessKey: string;
    readonly reason: string;
    readonly actor: string;
    readonly entryId: string;
    readonly now: Date;
  }): Promise<PostEntryOutcome>;
  readBalance(tenantId: string): Promise<Balance | null>;
  /** What a provider charged the platform for an attempt; once per key. */
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
  }): Promise<'CREATED' | 'REPLAY'>;
}
