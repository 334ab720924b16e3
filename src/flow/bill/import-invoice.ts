import { createHash } from 'node:crypto';

import type { InvoiceFormat, InvoiceLine } from '../../domain/billing/invoice';
import { refuse, type Refusal } from '../../domain/generation/refusals';
import { crashpoint } from '../../ports/crash-points';
import type { Invoice } from '../../ports/stores/invoice-store';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';
import {
  act,
  done,
  namingNotFound,
  RefusedAfterWriting,
  repeated,
  type Done,
  type OperatorOrder,
  type Subject,
} from '../operate/operator-action';
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

export interface InvoiceImportInput extends OperatorOrder {
  readonly providerId: string;
  readonly format: InvoiceFormat;
  readonly period: InvoicePeriod;
  /** It lists every charge of the period: what is booked and not on it is missing. Never of one part of several. */
  readonly isComplete: boolean;
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Less than what an importer may be given at most, where the way it comes by bears less. */
  readonly sizeBytesMax?: number;
}

interface Imported {
  readonly repeated: boolean;
  readonly invoice: Invoice;
}

export type InvoiceImport =
  | ({ readonly kind: 'IMPORTED' } & Imported)
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
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const file = await readFile(input, (bytes) => {
    hash.update(bytes);
    sizeBytes += bytes.length;
  });
  const digest = hash.digest('hex');
  const acted = await act(
    context,
    'invoice.import',
    input,
    (tx) => openProvider(tx, input.providerId),
    (tx) =>
      file.kind === 'READ'
        ? book(context, tx, input, { lines: file.lines, digest, sizeBytes })
        : Promise.resolve(file.refusal),
  );
  crashpoint('invoice.after_commit_before_answer');
  const told = namingNotFound(
    acted,
    refuse('PROVIDER_NOT_FOUND', 'There is no such provider.', 'provider'),
  );
  if (told.kind === 'DONE') return { kind: 'IMPORTED', ...told.result };
  const isBroken = told.code === 'INVOICE_BROKEN' && file.kind === 'REFUSED';
  return { ...told, ...(isBroken ? file.bad : NO_BAD_LINES) };
};

type BadLines = Pick<Extract<InvoiceImport, { kind: 'REFUSED' }>, 'badLines' | 'badLineCount'>;

const NO_BAD_LINES: BadLines = { badLines: [], badLineCount: 0 };

type InvoiceFile =
  | { readonly kind: 'READ'; readonly lines: readonly InvoiceLine[] }
  | {
      readonly kind: 'REFUSED';
      readonly refusal: Refusal<InvoiceRefusal>;
      readonly bad: BadLines;
    };

/** Before any transaction: a file may be long. */
const readFile = async (
  { period, chunks, format, sizeBytesMax }: InvoiceImportInput,
  onBytes: (bytes: Uint8Array) => void,
): Promise<InvoiceFile> => {
  const refused = (code: InvoiceRefusal, message: string, field: string): InvoiceFile => ({
    kind: 'REFUSED',
    refusal: refuse(code, message, field),
    bad: NO_BAD_LINES,
  });
  if (!(period.start < period.end)) {
    return refused('PERIOD_INVALID', 'The period ends before it begins.', 'periodEnd');
  }
  const read = await readInvoice(chunks, format, period, onBytes, sizeBytesMax);
  switch (read.kind) {
    case 'TOO_LARGE':
      return refused('INVOICE_TOO_LARGE', 'Split the invoice and import its parts.', 'text');
    case 'EMPTY':
      return refused('INVOICE_EMPTY', 'The invoice has no item.', 'text');
    case 'BAD_LINES': {
      const { badLines, badLineCount } = read;
      const message = `${badLineCount} line(s) cannot be read, so nothing was imported; mend the file.`;
      const refusal = refuse<InvoiceRefusal>('INVOICE_BROKEN', message, 'text');
      return { kind: 'REFUSED', refusal, bad: { badLines, badLineCount } };
    }
    case 'READ':
      return read;
  }
};

const openProvider = async (tx: Stores, providerId: string): Promise<Subject<string> | null> =>
  (await tx.invoices.lockProvider(providerId))
    ? { kind: 'PROVIDER', id: providerId, tenantId: null, before: {}, row: providerId }
    : null;

interface ReadFile extends Pick<Invoice, 'digest' | 'sizeBytes'> {
  readonly lines: readonly InvoiceLine[];
}

const book = async (
  context: FlowContext,
  tx: Stores,
  input: InvoiceImportInput,
  { lines, digest, sizeBytes }: ReadFile,
): Promise<Done<Imported>> => {
  const { providerId, format, period, isComplete, reason, actor } = input;
  const before = await tx.invoices.findByDigest(providerId, digest);
  if (before !== null) return repeated({ repeated: true, invoice: before });
  const now = context.clock.now();
  const invoice: Invoice = {
    id: context.ids.next(now),
    ...{ providerId, digest, format, sizeBytes, reason, actor },
    ...{ periodStart: period.start, periodEnd: period.end },
    ...{ lineCount: lines.length, createdAt: now },
  };
  await tx.invoices.insert(invoice);
  const totals = await bookInvoice(context, tx, invoice, { lines, isComplete }).catch(
    tellUncharged,
  );
  crashpoint('invoice.before_commit');
  return {
    ...done({ repeated: false, invoice }, { provider: providerId, digest, isComplete, ...totals }),
    made: { kind: 'INVOICE', id: invoice.id },
  };
};

const tellUncharged = (error: unknown): never => {
  if (!(error instanceof TooManyUnchargedError)) throw error;
  throw new RefusedAfterWriting(
    refuse(
      'TOO_MANY_UNCHARGED',
      `More than ${error.limit} charged generations of the period are not on the invoice; import it in shorter periods.`,
      'periodEnd',
    ),
  );
};
