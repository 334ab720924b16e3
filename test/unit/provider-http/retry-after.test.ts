import { readRetryAfterMs } from '../../../src/adapters/provider/http/retry-after';

const NOW = new Date('2026-12-01T10:00:00Z');
const HOUR_MS = 3_600_000;

describe('how long a provider asks to wait', () => {
  it.each<[string, Record<string, string>, number | null]>([
    ['nothing said', {}, null],
    ['seconds', { 'retry-after': '3' }, 3000],
    ['a fraction of a second', { 'retry-after': '0.25' }, 250],
    ['a date', { 'retry-after': 'Tue, 01 Dec 2026 10:00:30 GMT' }, 30_000],
    ['a date that has passed', { 'retry-after': 'Tue, 01 Dec 2026 09:00:00 GMT' }, 0],
    ['milliseconds before seconds', { 'retry-after-ms': '120', 'retry-after': '9' }, 120],
    ['a word', { 'retry-after': 'soon' }, null],
    ['a negative number', { 'retry-after': '-5' }, null],
    ['more than a day', { 'retry-after': '999999999' }, 24 * HOUR_MS],
  ])('%s', (_name, headers, waitMs) => {
    expect(readRetryAfterMs(headers, NOW)).toBe(waitMs);
  });
});
