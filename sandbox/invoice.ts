import type { Request, Response } from 'express';
import type { Charge, ChargeBook } from './billing';
import { sendError } from './errors';

const COLUMNS = ['id', 'job_id', 'reference', 'amount', 'currency', 'at'] as const;

/** `GET /v1/invoice?from=&to=`: JSON lines, or CSV where the Accept header prefers it. */
export function sendInvoice(charges: ChargeBook, request: Request, response: Response): void {
  const from = readTime(request.query['from'], '1970-01-01');
  const to = readTime(request.query['to'], '9999-12-31');
  if (Number.isNaN(from.getTime()) || Number.isNaN(to.getTime())) {
    sendError(response, 400, 'invalid_request', 'from and to must be ISO 8601 times');
    return;
  }
  const rows = charges.between(from, to);
  if (request.accepts(['application/x-ndjson', 'text/csv']) === 'text/csv') {
    const lines = rows.map((charge) => COLUMNS.map((column) => csvField(charge, column)).join(','));
    response.type('text/csv').send(`${[COLUMNS.join(','), ...lines].join('\r\n')}\r\n`);
    return;
  }
  response
    .type('application/x-ndjson')
    .send(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
}

function csvField(charge: Charge, column: (typeof COLUMNS)[number]): string {
  const value = charge[column] ?? '';
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** An invalid date where the parameter is given and is no time. */
function readTime(value: unknown, fallback: string): Date {
  if (value === undefined) return new Date(fallback);
  return new Date(typeof value === 'string' ? value : Number.NaN);
}
