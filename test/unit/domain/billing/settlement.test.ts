import fc from 'fast-check';
import {
  settle,
  type ChargedFailureBearer,
  type ChargeKnowledge,
} from '../../../../src/domain/billing/settlement';
import {
  TERMINAL_TASK_STATUSES,
  type TerminalTaskStatus,
} from '../../../../src/domain/generation/statuses';

const HELD = 100n;
const KNOWN: Readonly<Record<string, ChargeKnowledge>> = {
  'never submitted': { kind: 'NOT_SUBMITTED' },
  'not charged': { kind: 'NOT_CHARGED' },
  'charged 30': { kind: 'CHARGED', costMicros: 30n },
  'charged 250': { kind: 'CHARGED', costMicros: 250n },
  'charge unknown': { kind: 'UNKNOWN' },
};

/** A hold of 100: how it ended, what is known of the charge, who bears it → settled, released, why. */
const ROWS: readonly [TerminalTaskStatus, string, ChargedFailureBearer, bigint, bigint, string][] =
  [
    ['SUCCEEDED', 'charged 30', 'PLATFORM', 80n, 20n, 'DELIVERED'],
    ['SUCCEEDED', 'charge unknown', 'PLATFORM', 80n, 20n, 'DELIVERED'],
    ['CANCELED', 'never submitted', 'PLATFORM', 0n, 100n, 'NEVER_SUBMITTED'],
    ['CANCELED', 'not charged', 'PLATFORM', 0n, 100n, 'NOT_CHARGED'],
    ['CANCELED', 'charged 30', 'PLATFORM', 30n, 70n, 'CANCELED_CHARGED'],
    ['CANCELED', 'charged 250', 'PLATFORM', 100n, 0n, 'CANCELED_CHARGED'],
    ['CANCELED', 'charge unknown', 'PLATFORM', 0n, 100n, 'CHARGE_UNKNOWN_RELEASED'],
    ['EXPIRED', 'never submitted', 'PLATFORM', 0n, 100n, 'NEVER_SUBMITTED'],
    ['EXPIRED', 'not charged', 'PLATFORM', 0n, 100n, 'NOT_CHARGED'],
    ['EXPIRED', 'charged 30', 'PLATFORM', 30n, 70n, 'EXPIRED_CHARGED'],
    ['EXPIRED', 'charged 250', 'TENANT', 100n, 0n, 'EXPIRED_CHARGED'],
    ['EXPIRED', 'charge unknown', 'TENANT', 0n, 100n, 'CHARGE_UNKNOWN_RELEASED'],
    ['FAILED_FINAL', 'never submitted', 'TENANT', 0n, 100n, 'NEVER_SUBMITTED'],
    ['FAILED_FINAL', 'not charged', 'TENANT', 0n, 100n, 'NOT_CHARGED'],
    ['FAILED_FINAL', 'charged 30', 'PLATFORM', 0n, 100n, 'CHARGED_PLATFORM_BEARS'],
    ['FAILED_FINAL', 'charged 30', 'TENANT', 30n, 70n, 'CHARGED_TENANT_BEARS'],
    ['FAILED_FINAL', 'charged 250', 'TENANT', 100n, 0n, 'CHARGED_TENANT_BEARS'],
    ['FAILED_FINAL', 'charge unknown', 'TENANT', 0n, 100n, 'CHARGE_UNKNOWN_RELEASED'],
  ];

describe('how a hold is closed', () => {
  it.each(ROWS)(
    '%s, %s, %s bears failures: settles %s, releases %s, %s',
    (end, known, bearer, settleMicros, releaseMicros, reason) => {
      const charge = KNOWN[known] ?? { kind: 'UNKNOWN' };
      const settlement = settle({ end, heldMicros: HELD, deliveredMicros: 80n, charge, bearer });
      expect(settlement).toEqual({ settleMicros, releaseMicros, reason });
    },
  );

  it('never takes more than the quote, even for a delivery that is worth more', () => {
    const settlement = settle({
      end: 'SUCCEEDED',
      heldMicros: HELD,
      deliveredMicros: 101n,
      charge: { kind: 'UNKNOWN' },
      bearer: 'PLATFORM',
    });
    expect(settlement).toMatchObject({ settleMicros: 100n, releaseMicros: 0n });
  });

  it('always splits the hold into two parts that are not negative', () => {
    const micros = fc.bigInt({ min: 0n, max: 10n ** 15n });
    const charge = fc.oneof(
      fc.constantFrom<ChargeKnowledge>(
        { kind: 'NOT_SUBMITTED' },
        { kind: 'NOT_CHARGED' },
        { kind: 'UNKNOWN' },
      ),
      micros.map((costMicros): ChargeKnowledge => ({ kind: 'CHARGED', costMicros })),
    );
    fc.assert(
      fc.property(
        fc.record({
          end: fc.constantFrom(...TERMINAL_TASK_STATUSES),
          heldMicros: micros,
          deliveredMicros: micros,
          charge,
          bearer: fc.constantFrom<ChargedFailureBearer>('PLATFORM', 'TENANT'),
        }),
        (input) => {
          const { settleMicros, releaseMicros } = settle(input);
          expect(settleMicros + releaseMicros).toBe(input.heldMicros);
          expect(settleMicros >= 0n && releaseMicros >= 0n).toBe(true);
        },
      ),
    );
  });
});
