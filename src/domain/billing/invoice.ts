import type { ProviderCharge } from '../provider/vocabulary';
import type { AttemptStatus } from '../attempt/statuses';
import type { Micros } from '../kernel/money';

export type InvoiceFormat = 'CSV' | 'JSON_LINES';

/** One line of a provider's invoice, well formed and in a currency that has a rate. */
export interface InvoiceLine {
  readonly lineNo: number;
  /** The provider's own id of the charge. */
  readonly key: string;
  /** Null for what was charged without a job, as a refusal. */
  readonly jobId: string | null;
  /** What we gave the provider to echo. */
  readonly reference: string | null;
  readonly amount: string;
  readonly currency: string;
  readonly costMicros: Micros;
  readonly chargedAt: Date;
}

/** An attempt as the matching needs it. */
export interface InvoicedAttempt {
  readonly id: string;
  readonly taskId: string;
  readonly tenantId: string;
  readonly status: AttemptStatus;
  readonly jobId: string | null;
  readonly requestKey: string;
  /** The charge that is booked; null where none was ever told. */
  readonly booked: ProviderCharge | null;
}

export const INVOICE_CLASSES = [
  'MATCHED',
  'PRICE_DIFFERENCE',
  'DUPLICATE',
  'ORPHAN',
  'LATE',
  'UNCHARGED_SUCCESS',
] as const;
export type InvoiceClass = (typeof INVOICE_CLASSES)[number];

export type InvoiceCause =
  | 'EQUAL'
  | 'ABOVE_BOOKED'
  | 'BELOW_BOOKED'
  | 'OTHER_CURRENCY'
  | 'CHARGED_TWICE'
  | 'ITEM_SEEN_BEFORE'
  | 'JOB_UNKNOWN'
  | 'REFERENCE_UNKNOWN'
  | 'NOTHING_NAMED'
  | 'NEVER_ACCEPTED'
  | 'STILL_OPEN'
  | 'GIVEN_UP'
  | 'ENDED_WITHOUT_CHARGE'
  | 'NOT_ON_INVOICE';

export interface InvoiceFacts {
  /** All of this provider that the lines name by job or by reference. */
  readonly attempts: readonly InvoicedAttempt[];
  /** Keys of items that an earlier invoice brought. */
  readonly seenKeys: ReadonlySet<string>;
  /** Attempts, and jobs of nobody, that an earlier invoice charged. */
  readonly chargedBefore: ReadonlySet<string>;
}

export interface InvoiceVerdict {
  readonly line: InvoiceLine;
  readonly class: InvoiceClass;
  readonly cause: InvoiceCause;
  readonly attempt: InvoicedAttempt | null;
}
