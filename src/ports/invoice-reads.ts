import type { InvoiceClass } from '../domain/billing/invoice';
import type { Page, PageRequest } from './read-model';
import type { Invoice, InvoiceItem } from './stores/invoice-store';

/** The items of one class in one currency. */
export interface InvoiceTotal {
  readonly class: InvoiceClass;
  readonly currency: string;
  readonly items: number;
  /** In the currency, exact. */
  readonly amount: string;
  readonly costMicros: bigint;
  /** What was booked for the same attempts before the invoice came. */
  readonly bookedMicros: bigint;
}

/** Invoices of all providers, for operators only: they name generations of every tenant. Newest first, by id. */
export interface InvoiceReads {
  read(id: string): Promise<Invoice | null>;
  page(page: PageRequest): Promise<Page<Invoice>>;
  pageItems(
    invoiceId: string,
    classes: readonly InvoiceClass[] | null,
    page: PageRequest,
  ): Promise<Page<InvoiceItem>>;
  sum(invoiceId: string): Promise<InvoiceTotal[]>;
}
