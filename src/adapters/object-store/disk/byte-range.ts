import type { ByteRange } from '../../../ports/object-store';

/**
 * Reads a Range header against an object's size: a range, `all` when there is no range to be
 * honoured (absent, of another unit, malformed, or several, which S3 ignores too), or
 * `unsatisfiable`.
 */
export function parseRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | 'all' | 'unsatisfiable' {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '');
  if (!match) return 'all';
  const [, first = '', last = ''] = match;
  if (first === '') return last === '' ? 'all' : parseSuffix(Number(last), sizeBytes);
  const start = Number(first);
  const end = last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (last !== '' && Number(last) < start) return 'all';
  return start >= sizeBytes ? 'unsatisfiable' : { start, end };
}

function parseSuffix(lengthBytes: number, sizeBytes: number): ByteRange | 'unsatisfiable' {
  if (lengthBytes === 0 || sizeBytes === 0) return 'unsatisfiable';
  return { start: Math.max(0, sizeBytes - lengthBytes), end: sizeBytes - 1 };
}
