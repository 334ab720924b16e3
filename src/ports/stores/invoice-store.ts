import type {
  InvoiceCause,
  InvoiceClass,
  InvoicedAttempt,
  InvoiceFormat,
} from '../../domain/billing/invoice';
import type { ChargedFailureBearer } from '../../domain/billing/settlement';
import type { TaskStatus } from '../../domain/generation/statuses';

export interface Invoice {
  readonly id: string;
  readonly providerId: string;
  /** SHA-256 of the file, in hex. */
  readonly digest: string;
  readonly format: InvoiceFormat;
  readonly sizeBytes: number;
  readonly periodStart: Date;
  readonly periodEnd: Date;
  readonly lineCount: number;
  readonly reason: string;
  readonly actor: string;
  readonly createdAt: Date;
}

export interface InvoiceItem {
  readonly id: string;
  readonly invoiceId: string;
  readonly providerId: string;
  /** Null for a charge of ours that the invoice does not list. */
  readonly lineNo: number | null;
  readonly itemKey: string;
  readonly jobId: string | null;
  readonly reference: string | null;
  readonly amount: string;
  readonly currency: string;
  readonly costMicros: bigint;
  readonly chargedAt: Date | null;
  readonly class: InvoiceClass;
  readonly cause: InvoiceCause;
  readonly tenantId: string | null;
  readonly taskId: string | null;
  readonly attemptId: string | null;
  readonly bookedAmount: string | null;
  readonly bookedCurrency: string | null;
  readonly bookedMicros: bigint | null;
  /** Whether the tenant's account was corrected, or why it was not. */
  readonly adjustment: 'NONE' | 'BOOKED' | 'INSUFFICIENT_CREDITS' | 'BALANCE_TOO_LARGE';
  /** By how much, or by how much it should have been. */
  readonly adjustedMicros: bigint;
}

/** What a correction by an invoice goes by. */
export interface SettledTask {
  readonly taskId: string;
  readonly tenantId: string;
  readonly status: TaskStatus;
  /** The attempt that the settlement went by. */
  readonly currentAttemptId: string;
  readonly priceMicros: bigint;
  readonly heldMicros: bigint;
  readonly holdStatus: 'OPEN' | 'CLOSED';
  readonly settledMicros: bigint;
  /** By refunds and adjustments, less what adjustments charged. */
  readonly givenBackMicros: bigint;
  readonly bearer: ChargedFailureBearer;
}

export interface InvoiceStore {
  /** One import of a provider's invoices at a time, until the transaction ends. False: there is no such provider. */
  lockProvider(providerId: string): Promise<boolean>;
  findByDigest(providerId: string, digest: string): Promise<Invoice | null>;
  insert(invoice: Invoice): Promise<void>;
  /** Of the provider's attempts, those with one of the jobs or one of the references. */
  listAttempts(
    providerId: string,
    jobIds: readonly string[],
    references: readonly string[],
  ): Promise<InvoicedAttempt[]>;
  /** Which of the keys an earlier invoice of the provider brought. */
  listSeenKeys(providerId: string, keys: readonly string[]): Promise<string[]>;
  /** Which of the attempts, and of the jobs that belong to nobody, an earlier invoice charged. */
  listCharged(
    providerId: string,
    attemptIds: readonly string[],
    jobIds: readonly string[],
  ): Promise<string[]>;
  /** Locks the holds of the tasks, in order of the task. */
  lockSettled(taskIds: readonly string[]): Promise<SettledTask[]>;
  /** Attempts that ended in the period with a charge that no invoice lists. */
  listUncharged(
    providerId: string,
    start: Date,
    end: Date,
    limit: number,
  ): Promise<InvoicedAttempt[]>;
  /** Ids of the items by which an earlier invoice was said to miss a charge of the attempts. */
  listMissedItems(attemptIds: readonly string[]): Promise<string[]>;
  insertItems(items: readonly InvoiceItem[], now: Date): Promise<void>;
}
