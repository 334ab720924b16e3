import type { InvoiceFormat, InvoiceLine } from '../../domain/billing/invoice';
import { readLines } from './read-lines';
import { hasKeyTwice } from './has-key-twice';
import { parseCsvLine } from './parse-csv-line';
import { toInvoiceLine, type InvoicePeriod, type LineFault, type RawItem } from './to-invoice-line';

/** What an importer may be given; a file beyond it is split by whoever has it. */
export const INVOICE_LIMITS = {
  sizeBytesMax: 16 * 1024 * 1024,
  lineBytesMax: 16 * 1024,
  linesMax: 50_000,
  /** Of a broken file no more than this many faults are told. */
  faultsShownMax: 100,
} as const;

export interface BadLine {
  readonly lineNo: number;
  readonly code: LineFault;
}

export type ReadInvoice =
  | { readonly kind: 'READ'; readonly lines: readonly InvoiceLine[] }
  | {
      readonly kind: 'BAD_LINES';
      readonly badLines: readonly BadLine[];
      readonly badLineCount: number;
    }
  | { readonly kind: 'TOO_LARGE' | 'EMPTY' };

const COLUMNS = ['id', 'job_id', 'reference', 'amount', 'currency', 'at'] as const;

/**
 * Reads an invoice line by line, never more of it in memory than its good lines; every bad line is found, and one is
 * enough for the file to count for nothing. The bytes go to `onBytes` as they come, for a digest.
 */
export const readInvoice = async (
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  format: InvoiceFormat,
  period: InvoicePeriod,
  onBytes: (bytes: Uint8Array) => void,
  sizeBytesMax: number = INVOICE_LIMITS.sizeBytesMax,
): Promise<ReadInvoice> => {
  const lines: InvoiceLine[] = [];
  const badLines: BadLine[] = [];
  let badLineCount = 0;
  const parse = format === 'CSV' ? csvParser() : parseJsonLine;
  for await (const line of readLines(chunks, INVOICE_LIMITS.lineBytesMax, onBytes)) {
    if (line.bytesRead > sizeBytesMax) return { kind: 'TOO_LARGE' };
    const raw = line.text === null ? line.fault : parse(line.text);
    if (raw === null) continue;
    const item = typeof raw === 'string' ? raw : toInvoiceLine(raw, line.lineNo, period);
    if (typeof item !== 'string') {
      if (lines.length >= INVOICE_LIMITS.linesMax) return { kind: 'TOO_LARGE' };
      lines.push(item);
      continue;
    }
    badLineCount += 1;
    if (badLines.length < INVOICE_LIMITS.faultsShownMax) {
      badLines.push({ lineNo: line.lineNo, code: item });
    }
    // Without its header nothing of a CSV file means anything.
    if (item === 'HEADER_INVALID') break;
  }
  if (badLineCount > 0) return { kind: 'BAD_LINES', badLines, badLineCount };
  return lines.length === 0 ? { kind: 'EMPTY' } : { kind: 'READ', lines };
};

type Parse = (text: string) => RawItem | LineFault | null;

const parseJsonLine: Parse = (text) => {
  if (text.trim() === '') return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'JSON_INVALID';
  }
  if (hasKeyTwice(text)) return 'KEY_TWICE';
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as RawItem)
    : 'JSON_INVALID';
};

/** All columns, and none twice: of two amounts nobody could say which counts. */
const isHeader = (names: readonly string[]): boolean =>
  COLUMNS.every((name) => names.includes(name)) && new Set(names).size === names.length;

/** The first line names the columns, in any order; an empty field is an absent one. */
const csvParser = (): Parse => {
  let header: readonly string[] | null = null;
  return (text) => {
    if (text.trim() === '') return null;
    const fields = parseCsvLine(text);
    if (header === null) {
      if (fields === null || !isHeader(fields)) return 'HEADER_INVALID';
      header = fields;
      return null;
    }
    if (fields?.length !== header.length) return 'CSV_INVALID';
    const names = header;
    return Object.fromEntries(
      fields.map((field, index) => [names[index] ?? '', field === '' ? null : field]),
    );
  };
};
