import { moneyKnown } from '../../../../src/domain/billing/money-known';

const NOW = new Date('2026-12-01T00:00:00Z');
const later = (days: number): Date => new Date(NOW.getTime() + days * 86_400_000);

const reserve = { availableDelta: -10n, heldDelta: 10n };
const settle = { availableDelta: 0n, heldDelta: -7n };
const release = { availableDelta: 3n, heldDelta: -3n };
const releaseAll = { availableDelta: 10n, heldDelta: -10n };
const refund = { availableDelta: 2n, heldDelta: 0n };

const attempt = (status: 'ABANDONED' | 'RUNNING' | 'FAILED', watchedUntil: Date | null = null) => ({
  status,
  watchedUntil,
  jobId: null,
  sentAt: NOW,
});

describe('what is known of the money', () => {
  it.each([
    ['nothing', [], 'NOTHING_RESERVED', [0n, 0n, 0n]],
    ['a reservation', [reserve], 'HELD', [10n, 0n, 0n]],
    ['a settlement', [reserve, settle, release], 'CHARGED', [0n, 7n, 3n]],
    ['a settlement and a refund', [reserve, settle, release, refund], 'CHARGED', [0n, 5n, 5n]],
    ['a release', [reserve, releaseAll], 'RETURNED', [0n, 0n, 10n]],
  ] as const)('is the sum of the entries: %s', (_, entries, state, [held, charged, returned]) => {
    expect(moneyKnown(entries, [], false, NOW)).toEqual({
      state,
      held,
      charged,
      returned,
      unknownUntil: null,
    });
  });

  it('is UNKNOWN after the end while a job may turn up, and until when', () => {
    const entries = [reserve, releaseAll];
    const watched = [attempt('FAILED'), attempt('ABANDONED', later(7))];
    expect(moneyKnown(entries, watched, true, NOW)).toMatchObject({
      state: 'UNKNOWN',
      returned: 10n,
      unknownUntil: later(7),
    });
    expect(moneyKnown(entries, watched, true, later(8)).state).toBe('RETURNED');
    expect(moneyKnown(entries, [attempt('RUNNING')], true, NOW)).toMatchObject({
      state: 'UNKNOWN',
      unknownUntil: null,
    });
    expect(moneyKnown([reserve], [attempt('RUNNING')], false, NOW).state).toBe('HELD');
  });
});
