import {
  ledgerKeys,
  type CloseHoldOutcome,
  type OpenHoldOutcome,
  type PostEntryOutcome,
} from '../../../domain/billing/outcomes';
import type { Balance, Hold, MoneyStore } from '../../../ports/stores/money-store';
import type { Database } from '../database';
import { run, runForOne, runForOnly, type Parameters } from '../run-statement';

/** Every amount in the ledger is in millionths of a credit. */
const UNIT = 'MICRO_CREDIT';
/** Movements that follow from a generation's course, not from a person's wish. */
const SYSTEM_ACTOR = 'system';

export const createMoneyStore = (db: Database): MoneyStore => ({
  openHold: (input) =>
    outcomeOf<OpenHoldOutcome>(db, 'open-hold', {
      ...input,
      amountMicros: positive(input.amountMicros),
      businessKey: ledgerKeys.reserve(input.taskId),
      reason: 'GENERATION',
      actor: SYSTEM_ACTOR,
      unit: UNIT,
    }),
  readHold: (taskId) => runForOne<Hold>(db, 'read-hold', { taskId }),
  closeHold: async ({ settlement, ...input }) => {
    const outcome = await outcomeOf<CloseHoldOutcome | 'AMOUNTS_DIFFER'>(db, 'close-hold', {
      ...input,
      settleMicros: positive(settlement.settleMicros),
      releaseMicros: positive(settlement.releaseMicros),
      reason: settlement.reason,
      settleKey: ledgerKeys.settle(input.taskId),
      releaseKey: ledgerKeys.release(input.taskId),
      actor: SYSTEM_ACTOR,
      unit: UNIT,
    });
    if (outcome === 'AMOUNTS_DIFFER') {
      throw new RangeError(`The settlement of ${input.taskId} is not the whole of its hold`);
    }
    return outcome;
  },
  grant: (input) =>
    outcomeOf<PostEntryOutcome>(db, 'grant-credits', {
      ...input,
      amountMicros: positive(input.amountMicros),
      unit: UNIT,
    }),
  refund: (input) =>
    db.atomically(async (tx) => {
      await run(tx, 'lock-hold', { taskId: input.taskId });
      return outcomeOf<PostEntryOutcome>(tx, 'refund-credits', {
        ...input,
        amountMicros: positive(input.amountMicros),
        unit: UNIT,
      });
    }),
  readBalance: (tenantId) => runForOne<Balance>(db, 'read-balance', { tenantId }),
  recordProviderCost: async ({ id: costId, ...input }) => {
    const rows = await run(db, 'insert-provider-cost', { ...input, costId });
    return rows.length > 0 ? 'CREATED' : 'REPLAY';
  },
});

const outcomeOf = async <Outcome>(
  db: Database,
  statement: string,
  parameters: Parameters,
): Promise<Outcome> => (await runForOnly<{ outcome: Outcome }>(db, statement, parameters)).outcome;

/** A negative amount would turn a movement round; it is a defect of the caller. */
const positive = (amountMicros: bigint): bigint => {
  if (amountMicros < 0n) throw new RangeError(`Not an amount: ${amountMicros.toString()}`);
  return amountMicros;
};
