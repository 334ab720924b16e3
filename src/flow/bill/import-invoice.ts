import { createHash } from 'node:crypto';

import type { InvoiceFormat, InvoiceLine } from '../../domain/billing/invoice';
import { refuse, type Refusal } from '../../domain/generation/refusals';
import { crashpoint } from '../../ports/crash-points';
import type { Invoice } from '../../ports/stores/invoice-store';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';
import { bookInvoice, TooManyUnchargedError } from './book-invoice';
import { readInvoice, type BadLine } from './read-invoice';
import type { InvoicePeriod } from './to-invoice-line';

export type InvoiceRefusal =
  | 'PROVIDER_NOT_FOUND'
  | 'PERIOD_INVALID'
  | 'REASON_REQUIRED'
  | 'INVOICE_EMPTY'
  | 'INVOICE_TOO_LARGE'
  | 'INVOICE_BROKEN'
  | 'TOO_MANY_UNCHARGED';

export interface InvoiceImportInput {
  readonly providerId: string;
  readonly format: InvoiceFormat;
  readonly period: InvoicePeriod;
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  readonly reason: string;
  readonly actor: string;
}

export type InvoiceImport =
  | { readonly kind: 'IMPORTED'; readonly repeated: boolean; readonly invoice: Invoice }
  | (Refusal<InvoiceRefusal> & {
      readonly badLines: readonly BadLine[];
      readonly badLineCount: number;
    });

/**
 * Imports an invoice of a provider: every line is matched with the attempt it charges, its cost is booked once, and
 * what is off is a finding. A file with one bad line counts for nothing and all its bad lines are told; the same file
 * again changes nothing.
 */
export const importInvoice = async (
  context: FlowContext,
  input: InvoiceImportInput,
): Promise<InvoiceImport> => {
  if (input.reason.trim() === '') return refused('REASON_REQUIRED', 'Say why.', 'reason');
  if (!(input.period.start < input.period.end)) {
    return refused('PERIOD_INVALID', 'The period ends before it begins.', 'periodEnd');
  }
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const read = await readInvoice(input.chunks, input.format, input.period, (bytes) => {
    hash.update(bytes);
    sizeBytes += bytes.length;
  });
  switch (read.kind) {
    case 'TOO_LARGE':
      return refused('INVOICE_TOO_LARGE', 'Split the invoice and import its parts.', 'text');
    case 'EMPTY':
      return refused('INVOICE_EMPTY', 'The invoice has no item.', 'text');
    case 'BAD_LINES': {
      const refusal = refuse<InvoiceRefusal>(
        'INVOICE_BROKEN',
        `${read.badLineCount} line(s) cannot be read, so nothing was imported; mend the file.`,
        'text',
      );
      return { ...refusal, badLines: read.badLines, badLineCount: read.badLineCount };
    }
    case 'READ':
  }
  const outcome = await commit(context, input, read.lines, hash.digest('hex'), sizeBytes);
  crashpoint('invoice.after_commit_before_answer');
  return outcome;
};

const commit = async (
  context: FlowContext,
  input: InvoiceImportInput,
  lines: readonly InvoiceLine[],
  digest: string,
  sizeBytes: number,
): Promise<InvoiceImport> => {
  try {
    return await context.uow.transact(async (tx): Promise<InvoiceImport> => {
      if (!(await tx.invoices.lockProvider(input.providerId))) {
        return refused('PROVIDER_NOT_FOUND', 'There is no such provider.', 'provider');
      }
      const before = await tx.invoices.findByDigest(input.providerId, digest);
      if (before !== null) return { kind: 'IMPORTED', repeated: true, invoice: before };
      const now = context.clock.now();
      const invoice: Invoice = {
        id: context.ids.next(now),
        ...{ providerId: input.providerId, digest, format: input.format, sizeBytes },
        ...{ periodStart: input.period.start, periodEnd: input.period.end },
        ...{ lineCount: lines.length, reason: input.reason, actor: input.actor, createdAt: now },
      };
      await tx.invoices.insert(invoice);
      const totals = await bookInvoice(context, tx, invoice, lines);
      await recordImport(context, tx, invoice, totals);
      crashpoint('invoice.before_commit');
      return { kind: 'IMPORTED', repeated: false, invoice };
    });
  } catch (error) {
    if (!(error instanceof TooManyUnchargedError)) throw error;
    return refused(
      'TOO_MANY_UNCHARGED',
      `More than ${error.limit} charged generations of the period are not on the invoice; import it in shorter periods.`,
      'periodEnd',
    );
  }
};

const refused = (code: InvoiceRefusal, message: string, field: string): InvoiceImport => ({
  ...refuse(code, message, field),
  badLines: [],
  badLineCount: 0,
});

const recordImport = async (
  context: FlowContext,
  tx: Stores,
  invoice: Invoice,
  totals: Readonly<Record<string, number>>,
): Promise<void> => {
  const now = context.clock.now();
  await tx.audit.record({
    id: context.ids.next(now),
    tenantId: null,
    actor: invoice.actor,
    action: 'invoice.import',
    subjectKind: 'INVOICE',
    subjectId: invoice.id,
    reason: invoice.reason,
    before: null,
    after: { provider: invoice.providerId, digest: invoice.digest, ...totals },
    now,
  });
};
