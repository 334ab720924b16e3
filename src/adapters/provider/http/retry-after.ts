const RETRY_AFTER_MS_MAX = 24 * 3_600_000;

/**
 * How long the provider asks us to wait: `retry-after-ms`, else `retry-after` in seconds or as an HTTP
 * date. Null where it does not say or cannot be read; never negative, never more than a day.
 */
export function readRetryAfterMs(
  headers: Readonly<Record<string, string>>,
  now: Date,
): number | null {
  const millis = readNumber(headers['retry-after-ms']);
  if (millis !== null) return bound(millis);
  const text = headers['retry-after'];
  const seconds = readNumber(text);
  if (seconds !== null) return bound(seconds * 1000);
  // Date.parse reads almost anything as a date; HTTP dates begin with the name of a day.
  const date = /^[A-Z][a-z]+,? /.test(text ?? '') ? Date.parse(text ?? '') : Number.NaN;
  return Number.isNaN(date) ? null : bound(date - now.getTime());
}

function readNumber(text: string | undefined): number | null {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null;
}

function bound(ms: number): number {
  return Math.min(RETRY_AFTER_MS_MAX, Math.max(0, Math.ceil(ms)));
}
