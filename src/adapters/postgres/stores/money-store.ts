import {
  ledgerKeys,
  type AdjustOutcome,
  type CloseHoldOutcome,
  type GrantOutcome,
  type OpenHoldOutcome,
  type ProviderCostOutcome,
  type RefundOutcome,
} from '../../../domain/billing/outcomes';
import { MICROS_MAX } from '../../../domain/kernel/money';
import {
  LedgerUnavailableError,
  type Balance,
  type Hold,
  type MoneyStore,
  type Refunded,
  type SpendLimit,
} from '../../../ports/stores/money-store';
import type { Database, Place } from '../database';
import { isLockTimeout } from '../database-errors';
import { run, runForOne, runForOnly, type Parameters } from '../run-statement';
import { createSpendLimitStore } from './spend-limits';

/** Every amount in the ledger is in millionths of a credit. */
const UNIT = 'MICRO_CREDIT';
/** Movements that follow from a generation's course, not from a person's wish. */
const SYSTEM_ACTOR = 'system';

/** The ledger was out of reach when a hold had to be closed: the transaction is repeated, and settles later. */
export class SettlementBlockedError extends LedgerUnavailableError {}

export interface LedgerAccess {
  /** How long a transaction waits for the ledger. */
  readonly waitMs: number;
  readonly settlesLater: boolean;
}

export const createMoneyStore = (db: Database, ledger: LedgerAccess): MoneyStore => ({
  ...createHoldStore(db, ledger),
  ...createMovementStore(db),
  ...createSpendLimitStore(db),
  readBalance: (tenantId) => runForOne<Balance>(db, 'read-balance', { tenantId }),
  listSpendLimits: (tenantId, now) => run<SpendLimit>(db, 'list-spend-limits', { tenantId, now }),
  recordProviderCost: async ({ id: costId, ...input }) => {
    // No row: another transaction has just taken the key, and a statement begun now sees what it wrote.
    for (;;) {
      const row = await runForOne<{ outcome: ProviderCostOutcome }>(db, 'insert-provider-cost', {
        ...input,
        costId,
      });
      if (row !== null) return row.outcome;
    }
  },
});

type HoldStore = Pick<
  MoneyStore,
  'boundWait' | 'openHold' | 'readHold' | 'readHoldToSettle' | 'settlesLater' | 'closeHold'
>;

const createHoldStore = (db: Database, { waitMs, settlesLater }: LedgerAccess): HoldStore => {
  const ledgerWait = String(waitMs);
  return {
    settlesLater,
    boundWait: async () => {
      await run(db, 'bound-ledger-wait', { ledgerWait });
    },
    openHold: (input) =>
      tellingTimeouts(LedgerUnavailableError, async () => {
        for (;;) {
          const { kind, leftMicros } = await runForOnly<OpenHoldRow>(
            db,
            'open-hold',
            {
              ...input,
              amountMicros: positive(input.amountMicros),
              businessKey: ledgerKeys.reserve(input.taskId),
              reason: 'GENERATION',
              actor: SYSTEM_ACTOR,
              unit: UNIT,
            },
            accountOf(input.tenantId),
          );
          if (kind === 'BUDGET_EXCEEDED' || kind === 'KEY_SPEND_LIMIT_EXCEEDED') {
            return { kind, leftMicros: leftMicros ?? 0n };
          }
          if (kind !== 'RACED') return { kind };
        }
      }),
    readHold: (taskId) => runForOne<Hold>(db, 'read-hold', { taskId }),
    readHoldToSettle: (taskId) =>
      runForOne<Hold>(db, 'read-hold-to-settle', { taskId, ledgerWait }),
    closeHold: async ({ settlement, tenantId, ...input }) => {
      const outcome = await tellingTimeouts(SettlementBlockedError, () =>
        outcomeOf<CloseHoldOutcome | 'AMOUNTS_DIFFER'>(
          db,
          'close-hold',
          {
            ...input,
            settleMicros: positive(settlement.settleMicros),
            releaseMicros: positive(settlement.releaseMicros),
            reason: settlement.reason,
            settleKey: ledgerKeys.settle(input.taskId),
            releaseKey: ledgerKeys.release(input.taskId),
            actor: SYSTEM_ACTOR,
            unit: UNIT,
          },
          accountOf(tenantId),
        ),
      );
      if (outcome === 'AMOUNTS_DIFFER') {
        throw new RangeError(`The settlement of ${input.taskId} is not the whole of its hold`);
      }
      return outcome;
    },
  };
};

interface OpenHoldRow {
  readonly kind: OpenHoldOutcome['kind'] | 'RACED';
  readonly leftMicros: bigint | null;
}

const tellingTimeouts = async <T>(
  Told: typeof LedgerUnavailableError,
  work: () => Promise<T>,
): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    throw new Told('The ledger is out of reach', { cause: error });
  }
};

const createMovementStore = (
  db: Database,
): Pick<MoneyStore, 'grant' | 'lockRefunds' | 'refund' | 'adjust'> => ({
  grant: (input) =>
    outcomeOf<GrantOutcome>(db, 'grant-credits', {
      ...input,
      amountMicros: positive(input.amountMicros),
      balanceMax: MICROS_MAX,
      unit: UNIT,
    }),
  lockRefunds: (taskId) =>
    db.atomically(async (tx) => {
      await run(tx, 'lock-hold', { taskId });
      return runForOne<Refunded>(tx, 'read-refunds', { taskId });
    }),
  refund: (input) =>
    db.atomically(async (tx) => {
      await run(tx, 'lock-hold', { taskId: input.taskId });
      return outcomeOf<RefundOutcome>(tx, 'refund-credits', {
        ...input,
        amountMicros: positive(input.amountMicros),
        balanceMax: MICROS_MAX,
        unit: UNIT,
      });
    }),
  adjust: (input) =>
    db.atomically(async (tx) => {
      if (input.taskId !== null) await run(tx, 'lock-hold', { taskId: input.taskId });
      return outcomeOf<AdjustOutcome>(tx, 'adjust-credits', {
        ...input,
        balanceMax: MICROS_MAX,
        unit: UNIT,
      });
    }),
});

const outcomeOf = async <Outcome>(
  db: Database,
  statement: string,
  parameters: Parameters,
  place?: Place,
): Promise<Outcome> =>
  (await runForOnly<{ outcome: Outcome }>(db, statement, parameters, place)).outcome;

const accountOf = (tenantId: string): Place => ({ rank: 'ACCOUNT', key: tenantId });

/** A negative amount would turn a movement round; it is a defect of the caller. */
const positive = (amountMicros: bigint): bigint => {
  if (amountMicros < 0n) throw new RangeError(`Not an amount: ${amountMicros.toString()}`);
  return amountMicros;
};
