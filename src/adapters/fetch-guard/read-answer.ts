import type { OutputOpening } from '../../ports/output-source';
import { meterBody } from './metered-body';
import type { Hop } from './open-hop';

export interface AnswerContext {
  readonly host: string;
  readonly sizeBytesMax: number;
  /** What was asked for; 0 when no range was. */
  readonly rangeStart: number;
  /** Inclusive; undefined: to the end. */
  readonly rangeEnd: number | undefined;
  readonly ifRangeEtag: string | undefined;
  readonly nowMs: number;
  readonly signal: AbortSignal | undefined;
}

/** `RESTART`: the range cannot be had; ask again for the whole. */
export type Answer = OutputOpening | { readonly kind: 'RESTART' };

/** Statuses that say "later", next to all of 5xx. */
const LATER = new Set([408, 425, 429]);

/** Turns a final answer into an outcome. Unless that is OK, the connection is closed here. */
export function readAnswer(hop: Hop, context: AnswerContext): Answer {
  const answer = judgeAnswer(hop, context);
  if (answer.kind !== 'OK') hop.close();
  return answer;
}

function judgeAnswer(hop: Hop, context: AnswerContext): Answer {
  const { statusCode, headers } = hop.answer;
  const { host } = context;
  if (statusCode === 416 && context.rangeStart > 0) return { kind: 'RESTART' };
  if (statusCode >= 500 || LATER.has(statusCode)) {
    const retryAfterMs = parseRetryAfter(textOf(headers['retry-after']), context.nowMs);
    return { kind: 'UNAVAILABLE', retryAfterMs, detail: `${host} answered ${statusCode}` };
  }
  if (statusCode >= 400) return { kind: 'GONE', status: statusCode };
  if (statusCode !== 200 && statusCode !== 206) {
    return { kind: 'UNAVAILABLE', retryAfterMs: null, detail: `${host} answered ${statusCode}` };
  }
  const encoding = textOf(headers['content-encoding']) ?? 'identity';
  // Identity was asked for: of encoded bytes neither size nor digest would be those of the output.
  if (encoding.toLowerCase() !== 'identity') {
    return { kind: 'REFUSED', reason: 'ENCODED_CONTENT', detail: `${host} sent ${encoding}` };
  }
  return statusCode === 206 ? openPart(hop, context) : openWhole(hop, context);
}

function openWhole(hop: Hop, context: AnswerContext): Answer {
  const sizeBytes = parseLength(textOf(hop.answer.headers['content-length']));
  return openBody(hop, context, 200, 0, sizeBytes);
}

/** A part is good only if it begins where it should, in the version that was begun. */
function openPart(hop: Hop, context: AnswerContext): Answer {
  const { headers } = hop.answer;
  const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(textOf(headers['content-range']) ?? '');
  const etag = textOf(headers['etag']);
  const sameVersion = context.ifRangeEtag === undefined || etag === context.ifRangeEtag;
  if (context.rangeStart === 0) {
    const detail = `${context.host} sent a part that was not asked for`;
    return { kind: 'UNAVAILABLE', retryAfterMs: null, detail };
  }
  if (!range || Number(range[1]) !== context.rangeStart || !sameVersion) return { kind: 'RESTART' };
  const sizeBytes = range[3] === '*' ? null : Number(range[3]);
  // An answer may end before the output does; then more would be missing than the reader knows.
  const end = context.rangeEnd ?? (sizeBytes === null ? null : sizeBytes - 1);
  if (end !== null && Number(range[2]) !== end) return { kind: 'RESTART' };
  return openBody(hop, context, 206, context.rangeStart, sizeBytes);
}

function openBody(
  hop: Hop,
  context: AnswerContext,
  status: 200 | 206,
  rangeStart: number,
  sizeBytes: number | null,
): Answer {
  const { host, sizeBytesMax, signal } = context;
  if (sizeBytes !== null && sizeBytes > sizeBytesMax) {
    return { kind: 'REFUSED', reason: 'TOO_LARGE', detail: `${host} holds ${sizeBytes} bytes` };
  }
  const body = meterBody(hop, host, sizeBytesMax - rangeStart, signal);
  const etag = textOf(hop.answer.headers['etag']);
  const acceptsRanges =
    status === 206 || textOf(hop.answer.headers['accept-ranges'])?.toLowerCase() === 'bytes';
  return { kind: 'OK', status, sizeBytes, etag: etag ?? null, rangeStart, acceptsRanges, body };
}

export function parseRetryAfter(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}

function parseLength(header: string | undefined): number | null {
  return header !== undefined && /^\d+$/.test(header) ? Number(header) : null;
}

export function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
