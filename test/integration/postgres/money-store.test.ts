import type { Settlement } from '../../../src/domain/billing/settlement';
import type { CloseHoldOutcome } from '../../../src/domain/billing/outcomes';
import { MICROS_MAX } from '../../../src/domain/kernel/money';
import { eventually } from '../../support/eventually';
import { addTask, addTenant, newId, NOW, useStores } from './fixtures';

const CREDITS = 1_000_000n;

const openHold = async (
  tenantId: string,
  taskId: string,
  amountMicros: bigint,
  stores = bench().stores,
  { apiKeyId = null, now = NOW }: { apiKeyId?: string | null; now?: Date } = {},
) =>
  (
    await stores.money.openHold({
      taskId,
      tenantId,
      apiKeyId,
      amountMicros,
      holdId: newId(),
      entryId: newId(),
      now,
    })
  ).kind;

const closeHold = (taskId: string, settlement: Settlement, attemptId: string | null = null) =>
  bench().stores.money.closeHold({
    taskId,
    tenantId: newId(),
    settlement,
    attemptId,
    settleEntryId: newId(),
    releaseEntryId: newId(),
    now: NOW,
  });

const split = (settleMicros: bigint, releaseMicros: bigint): Settlement => ({
  settleMicros,
  releaseMicros,
  reason: 'DELIVERED',
});

const refund = (tenantId: string, taskId: string, amountMicros: bigint, n: number) =>
  bench().stores.money.refund({
    taskId,
    tenantId,
    amountMicros,
    businessKey: `refund:${taskId}:${n}`,
    reason: 'REVIEW_REJECTED',
    actor: 'operator',
    entryId: newId(),
    now: NOW,
  });

const entriesOf = async (taskId: string) =>
  (
    await bench().look(
      `SELECT kind, amount_micros::text AS amount, business_key, reason FROM credit_ledger
       WHERE task_id = $1 ORDER BY business_key`,
      [taskId],
    )
  ).map((entry) => Object.values(entry).join(' '));

/** Every account is what its entries say; nobody is below zero. */
const expectBooksToBalance = async () => {
  const wrong = await bench().look(
    `SELECT a.* FROM accounts a LEFT JOIN LATERAL (
       SELECT coalesce(sum(available_delta), 0) AS available, coalesce(sum(held_delta), 0) AS held
       FROM credit_ledger l WHERE l.tenant_id = a.tenant_id
     ) sums ON true
     WHERE a.available_micros <> sums.available OR a.held_micros <> sums.held
       OR a.held_micros <> (SELECT coalesce(sum(amount_micros), 0) FROM holds h
                            WHERE h.tenant_id = a.tenant_id AND h.status = 'OPEN')`,
  );
  expect(wrong).toEqual([]);
  const drifted = await bench().look(
    `SELECT l.* FROM spend_limits l WHERE l.spent_micros <> (
       SELECT coalesce(sum(CASE h.status WHEN 'OPEN' THEN h.amount_micros ELSE h.settled_micros END - (
         SELECT coalesce(sum(amount_micros), 0) FROM credit_ledger r WHERE r.task_id = h.task_id AND r.kind = 'REFUND'
       )), 0)
       FROM holds h JOIN generation_tasks t ON t.id = h.task_id
       WHERE h.tenant_id = l.tenant_id AND (l.api_key_id IS NULL OR l.api_key_id = t.api_key_id)
         AND (l.period = 'TOTAL' OR l.period_start = date_trunc('month', h.opened_at AT TIME ZONE 'UTC')::date))`,
  );
  expect(drifted).toEqual([]);
};

const untilOneWaits = (): Promise<true> =>
  eventually('the second waits for the first', async () => {
    const rows = await bench().look(
      `SELECT 1 FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'store-test' AND wait_event_type = 'Lock'`,
    );
    return rows.length > 0 ? true : null;
  });

const bench = useStores(8, () => expectBooksToBalance());

const setUp = async (credits: bigint) => {
  const tenantId = await addTenant(bench(), credits);
  const task = await addTask(bench(), tenantId);
  return { tenantId, taskId: task.id };
};

describe('opening a hold', () => {
  it('moves the amount from available to held, with a visible RESERVE line', async () => {
    const { tenantId, taskId } = await setUp(10n * CREDITS);
    expect(await openHold(tenantId, taskId, 4n * CREDITS)).toBe('CREATED');
    expect(await bench().stores.money.readBalance(tenantId)).toEqual({
      availableMicros: 6n * CREDITS,
      heldMicros: 4n * CREDITS,
    });
    expect(await bench().stores.money.readHold(taskId)).toMatchObject({
      amountMicros: 4n * CREDITS,
      status: 'OPEN',
      settledMicros: null,
    });
    expect(await entriesOf(taskId)).toEqual([`RESERVE 4000000 reserve:${taskId} GENERATION`]);
  });

  it('again with the same amount is a REPLAY, with another a CONFLICT; neither books anything', async () => {
    const { tenantId, taskId } = await setUp(10n * CREDITS);
    await openHold(tenantId, taskId, 4n * CREDITS);
    expect(await openHold(tenantId, taskId, 4n * CREDITS)).toBe('REPLAY');
    expect(await openHold(tenantId, taskId, 5n * CREDITS)).toBe('CONFLICT');
    expect(await entriesOf(taskId)).toHaveLength(1);
  });

  it('is refused beyond the balance, and for a tenant without an account', async () => {
    const { tenantId, taskId } = await setUp(3n * CREDITS);
    expect(await openHold(tenantId, taskId, 4n * CREDITS)).toBe('INSUFFICIENT_CREDITS');
    expect(await bench().stores.money.readHold(taskId)).toBeNull();
    const poor = await addTenant(bench());
    const task = await addTask(bench(), poor);
    expect(await openHold(poor, task.id, 1n)).toBe('INSUFFICIENT_CREDITS');
    expect(await bench().stores.money.readBalance(poor)).toBeNull();
  });

  it('that waited for another of the same generation is a REPLAY', async () => {
    const { tenantId, taskId } = await setUp(100n * CREDITS);
    const late = await bench().uow.transact(async (tx) => {
      expect(await openHold(tenantId, taskId, 4n * CREDITS, tx)).toBe('CREATED');
      const waiting = openHold(tenantId, taskId, 4n * CREDITS);
      await untilOneWaits();
      return { waiting };
    });
    expect(await late.waiting).toBe('REPLAY');
    expect(await entriesOf(taskId)).toHaveLength(1);
  });

  it('that waited for another generation of its tenant sees what that one took', async () => {
    const { tenantId, taskId } = await setUp(10n * CREDITS);
    const other = await addTask(bench(), tenantId);
    const late = await bench().uow.transact(async (tx) => {
      expect(await openHold(tenantId, taskId, 4n * CREDITS, tx)).toBe('CREATED');
      const waiting = openHold(tenantId, other.id, 4n * CREDITS);
      await untilOneWaits();
      return { waiting };
    });
    expect(await late.waiting).toBe('CREATED');
    expect(await bench().stores.money.readBalance(tenantId)).toEqual({
      availableMicros: 2n * CREDITS,
      heldMicros: 8n * CREDITS,
    });
  });

  it('of eight at once for one generation books one; the others are replays', async () => {
    const { tenantId, taskId } = await setUp(100n * CREDITS);
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => openHold(tenantId, taskId, 4n * CREDITS)),
    );
    expect(outcomes.sort()).toEqual(['CREATED', ...Array<string>(7).fill('REPLAY')]);
    expect(await entriesOf(taskId)).toHaveLength(1);
  });

  it('of 32 in parallel on a balance for 2 accepts exactly 2', async () => {
    const tenantId = await addTenant(bench(), 11n * CREDITS);
    const tasks = await Promise.all(Array.from({ length: 32 }, () => addTask(bench(), tenantId)));
    const outcomes = await Promise.all(
      tasks.map((task) =>
        bench().uow.transact((tx) => openHold(tenantId, task.id, 5n * CREDITS, tx)),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === 'CREATED')).toHaveLength(2);
    expect(outcomes.filter((outcome) => outcome === 'INSUFFICIENT_CREDITS')).toHaveLength(30);
    expect(await bench().stores.money.readBalance(tenantId)).toEqual({
      availableMicros: 1n * CREDITS,
      heldMicros: 10n * CREDITS,
    });
  });
});

describe('closing a hold', () => {
  it('settles and releases together', async () => {
    const { tenantId, taskId } = await setUp(10n * CREDITS);
    await openHold(tenantId, taskId, 4n * CREDITS);
    const attemptId = newId();
    expect(await closeHold(taskId, split(3n * CREDITS, 1n * CREDITS), attemptId)).toBe('CLOSED');
    expect(await bench().stores.money.readBalance(tenantId)).toEqual({
      availableMicros: 7n * CREDITS,
      heldMicros: 0n,
    });
    expect(await entriesOf(taskId)).toEqual([
      `RELEASE 1000000 release:${taskId} DELIVERED`,
      `RESERVE 4000000 reserve:${taskId} GENERATION`,
      `SETTLE 3000000 settle:${taskId} DELIVERED`,
    ]);
    expect(await bench().stores.money.readHold(taskId)).toMatchObject({
      status: 'CLOSED',
      settledMicros: 3n * CREDITS,
      closeReason: 'DELIVERED',
    });
  });

  it('writes no line for nothing', async () => {
    const { tenantId, taskId } = await setUp(10n * CREDITS);
    await openHold(tenantId, taskId, 4n * CREDITS);
    await closeHold(taskId, {
      settleMicros: 0n,
      releaseMicros: 4n * CREDITS,
      reason: 'NOT_CHARGED',
    });
    expect((await entriesOf(taskId)).map((line) => line.split(' ')[0])).toEqual([
      'RELEASE',
      'RESERVE',
    ]);
  });

  it('a second time, of any kind, does nothing and says so; without a hold too', async () => {
    const { tenantId, taskId } = await setUp(10n * CREDITS);
    expect(await closeHold(taskId, split(0n, 0n))).toBe('NO_HOLD');
    await openHold(tenantId, taskId, 4n * CREDITS);
    await closeHold(taskId, split(4n * CREDITS, 0n));
    expect(await closeHold(taskId, split(0n, 4n * CREDITS))).toBe('ALREADY_CLOSED');
    expect(await closeHold(taskId, split(1n, 1n))).toBe('ALREADY_CLOSED');
    expect(await entriesOf(taskId)).toHaveLength(2);
  });

  it('settles once, though another hold of the tenant would bear a second time', async () => {
    const { tenantId, taskId } = await setUp(20n * CREDITS);
    const other = await addTask(bench(), tenantId);
    await openHold(tenantId, taskId, 4n * CREDITS);
    await openHold(tenantId, other.id, 6n * CREDITS);
    expect(await closeHold(taskId, split(3n * CREDITS, 1n * CREDITS))).toBe('CLOSED');
    expect(await closeHold(taskId, split(1n * CREDITS, 3n * CREDITS))).toBe('ALREADY_CLOSED');
    expect(await bench().stores.money.readBalance(tenantId)).toMatchObject({
      heldMicros: 6n * CREDITS,
    });
  });

  it('with amounts that are not the whole of the hold is a defect, and changes nothing', async () => {
    const { tenantId, taskId } = await setUp(10n * CREDITS);
    await openHold(tenantId, taskId, 4n * CREDITS);
    await expect(closeHold(taskId, split(1n, 1n))).rejects.toThrow('not the whole');
    await expect(closeHold(taskId, split(5n * CREDITS, -1n * CREDITS))).rejects.toThrow(RangeError);
    expect(await bench().stores.money.readHold(taskId)).toMatchObject({ status: 'OPEN' });
  });

  it('of many at once is done by one; a second hold of the tenant is untouched', async () => {
    const { tenantId, taskId } = await setUp(20n * CREDITS);
    const other = await addTask(bench(), tenantId);
    await openHold(tenantId, taskId, 4n * CREDITS);
    await openHold(tenantId, other.id, 6n * CREDITS);
    const outcomes: CloseHoldOutcome[] = await Promise.all(
      [0n, 1n, 2n, 3n, 4n, 0n, 4n, 2n].map((settled) =>
        closeHold(taskId, split(settled * CREDITS, (4n - settled) * CREDITS)),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === 'CLOSED')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'ALREADY_CLOSED')).toHaveLength(7);
    expect(await bench().stores.money.readHold(other.id)).toMatchObject({
      status: 'OPEN',
      amountMicros: 6n * CREDITS,
    });
    expect(await bench().stores.money.readBalance(tenantId)).toMatchObject({
      heldMicros: 6n * CREDITS,
    });
  });
});

describe('a refund', () => {
  const settleSome = async (settled: bigint) => {
    const { tenantId, taskId } = await setUp(10n * CREDITS);
    await openHold(tenantId, taskId, 4n * CREDITS);
    await closeHold(taskId, split(settled, 4n * CREDITS - settled));
    return { tenantId, taskId };
  };

  it('pays back once a key: CREATED, then REPLAY, CONFLICT for another amount', async () => {
    const { tenantId, taskId } = await settleSome(3n * CREDITS);
    expect(await refund(tenantId, taskId, 1n * CREDITS, 1)).toBe('CREATED');
    expect(await refund(tenantId, taskId, 1n * CREDITS, 1)).toBe('REPLAY');
    expect(await refund(tenantId, taskId, 2n * CREDITS, 1)).toBe('CONFLICT');
    expect(await bench().stores.money.readBalance(tenantId)).toMatchObject({
      availableMicros: 8n * CREDITS,
    });
  });

  it('never exceeds what was settled, whatever its keys', async () => {
    const { tenantId, taskId } = await settleSome(3n * CREDITS);
    expect(await refund(tenantId, taskId, 2n * CREDITS, 1)).toBe('CREATED');
    expect(await refund(tenantId, taskId, 2n * CREDITS, 2)).toBe('OVER_LIMIT');
    expect(await refund(tenantId, taskId, 1n * CREDITS, 3)).toBe('CREATED');
    expect(await refund(tenantId, taskId, 1n, 4)).toBe('OVER_LIMIT');
  });

  it('of eight at once under eight keys pays back the settled amount and no more', async () => {
    const { tenantId, taskId } = await settleSome(3n * CREDITS);
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, n) => refund(tenantId, taskId, 1n * CREDITS, n)),
    );
    expect(outcomes.filter((outcome) => outcome === 'CREATED')).toHaveLength(3);
    expect(outcomes.filter((outcome) => outcome === 'OVER_LIMIT')).toHaveLength(5);
  });

  it('is not for an open hold, nor for another tenant', async () => {
    const { tenantId, taskId } = await setUp(10n * CREDITS);
    expect(await refund(tenantId, taskId, 1n, 1)).toBe('NO_HOLD');
    await openHold(tenantId, taskId, 4n * CREDITS);
    expect(await refund(tenantId, taskId, 1n, 1)).toBe('NOT_SETTLED');
    await closeHold(taskId, split(4n * CREDITS, 0n));
    const stranger = await addTenant(bench(), 1n);
    expect(await refund(stranger, taskId, 1n, 2)).toBe('NO_HOLD');
  });

  it('that the account cannot hold is refused, and the rest of what is settled stays to be paid back', async () => {
    const { tenantId, taskId } = await settleSome(3n * CREDITS);
    const { availableMicros } = (await bench().stores.money.readBalance(tenantId)) ?? {
      availableMicros: 0n,
    };
    await grant(tenantId, MICROS_MAX - availableMicros - 1n, 'grant:much');
    expect(await refund(tenantId, taskId, 2n, 1)).toBe('BALANCE_TOO_LARGE');
    expect(await refund(tenantId, taskId, 1n, 1)).toBe('CREATED');
  });
});

const grant = (tenantId: string, amountMicros: bigint, key = 'grant:first') =>
  bench().stores.money.grant({
    tenantId,
    amountMicros,
    businessKey: key,
    reason: 'START',
    actor: 'operator',
    entryId: newId(),
    now: NOW,
  });

describe('a grant', () => {
  it('beyond what an account can hold with what is reserved is refused', async () => {
    const { tenantId, taskId } = await setUp(10n * CREDITS);
    await openHold(tenantId, taskId, 4n * CREDITS);
    expect(await grant(tenantId, MICROS_MAX - 10n * CREDITS + 1n)).toBe('BALANCE_TOO_LARGE');
    expect(await grant(tenantId, MICROS_MAX - 10n * CREDITS)).toBe('CREATED');
    expect(await grant(tenantId, 1n, 'grant:one more')).toBe('BALANCE_TOO_LARGE');
    // What is reserved comes back: the account holds all of it.
    expect(await closeHold(taskId, split(0n, 4n * CREDITS))).toBe('CLOSED');
    expect(await bench().stores.money.readBalance(tenantId)).toEqual({
      availableMicros: MICROS_MAX,
      heldMicros: 0n,
    });
  });

  it('opens the account and adds to it; the same key again is a REPLAY or a CONFLICT', async () => {
    const tenantId = await addTenant(bench());
    expect(await grant(tenantId, 5n)).toBe('CREATED');
    expect(await grant(tenantId, 7n, 'grant:second')).toBe('CREATED');
    expect(await grant(tenantId, 5n)).toBe('REPLAY');
    expect(await grant(tenantId, 6n)).toBe('CONFLICT');
    expect(await grant(await addTenant(bench()), 5n)).toBe('CONFLICT');
    expect(await bench().stores.money.readBalance(tenantId)).toMatchObject({
      availableMicros: 12n,
    });
  });

  it('of eight at once with one key is booked once', async () => {
    const tenantId = await addTenant(bench());
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => grant(tenantId, 5n)));
    expect(outcomes.filter((outcome) => outcome === 'CREATED')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'REPLAY')).toHaveLength(7);
    expect(await bench().stores.money.readBalance(tenantId)).toMatchObject({ availableMicros: 5n });
  });
});

describe('an adjustment', () => {
  const adjust = (tenantId: string, deltaMicros: bigint, key = 'adjustment:1') =>
    bench().stores.money.adjust({
      tenantId,
      deltaMicros,
      taskId: null,
      attemptId: null,
      businessKey: key,
      reason: 'INVOICE',
      actor: 'operator',
      entryId: newId(),
      now: NOW,
    });

  it('moves what can be spent, up and down, once a key, and no hold', async () => {
    const { tenantId, taskId } = await setUp(10n * CREDITS);
    await openHold(tenantId, taskId, 4n * CREDITS);
    expect(await adjust(tenantId, -2n * CREDITS)).toBe('CREATED');
    expect(await adjust(tenantId, -2n * CREDITS)).toBe('REPLAY');
    expect(await adjust(tenantId, 2n * CREDITS)).toBe('CONFLICT');
    expect(await adjust(tenantId, 1n * CREDITS, 'adjustment:2')).toBe('CREATED');
    expect(await bench().stores.money.readBalance(tenantId)).toEqual({
      availableMicros: 5n * CREDITS,
      heldMicros: 4n * CREDITS,
    });
  });

  it('never takes what is reserved, nor goes beyond what an account can hold', async () => {
    const { tenantId, taskId } = await setUp(10n * CREDITS);
    await openHold(tenantId, taskId, 4n * CREDITS);
    expect(await adjust(tenantId, -6n * CREDITS - 1n)).toBe('INSUFFICIENT_CREDITS');
    expect(await adjust(tenantId, MICROS_MAX - 10n * CREDITS + 1n)).toBe('BALANCE_TOO_LARGE');
    expect(await adjust(await addTenant(bench()), 1n)).toBe('NO_ACCOUNT');
    expect(await adjust(tenantId, -6n * CREDITS)).toBe('CREATED');
  });

  it('of eight at once that take half each: two are booked', async () => {
    const { tenantId } = await setUp(10n * CREDITS);
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, n) => adjust(tenantId, -5n * CREDITS, `adjustment:${n}`)),
    );
    expect(outcomes.filter((outcome) => outcome === 'CREATED')).toHaveLength(2);
    expect(outcomes.filter((outcome) => outcome === 'INSUFFICIENT_CREDITS')).toHaveLength(6);
  });
});

describe('a limit', () => {
  const limit = async (
    tenantId: string,
    limitMicros: bigint | null,
    { apiKeyId = null, period = 'MONTH', now = NOW }: LimitOptions = {},
  ) =>
    bench().stores.money.setSpendLimit({
      id: newId(),
      tenantId,
      apiKeyId,
      limit: limitMicros === null ? null : { period, limitMicros },
      now,
    });
  interface LimitOptions {
    readonly apiKeyId?: string | null;
    readonly period?: 'MONTH' | 'TOTAL';
    readonly now?: Date;
  }
  const addKey = async (tenantId: string): Promise<string> => {
    const id = newId();
    await bench().look(
      `INSERT INTO api_keys (id, tenant_id, name, prefix, secret_hash, scopes, created_at)
       VALUES ($1, $2, 'key', $3, '', '{}', $4)`,
      [id, tenantId, `avk_${id.slice(-12)}`, NOW],
    );
    return id;
  };
  const spentOf = async (tenantId: string, now = NOW) =>
    (await bench().stores.money.listSpendLimits(tenantId, now)).map(
      (each) => each.spentMicros / CREDITS,
    );

  it.each(['tenant', 'key'] as const)(
    'of a %s that covers 2 lets exactly 2 of 32 parallel holds open',
    async (whose) => {
      const tenantId = await addTenant(bench(), 1_000n * CREDITS);
      const apiKeyId = await addKey(tenantId);
      await limit(tenantId, 11n * CREDITS, whose === 'key' ? { apiKeyId } : {});
      const tasks = await Promise.all(
        Array.from({ length: 32 }, () => addTask(bench(), tenantId, { apiKeyId })),
      );
      const outcomes = await Promise.all(
        tasks.map((task) =>
          bench().uow.transact((tx) => openHold(tenantId, task.id, 5n * CREDITS, tx, { apiKeyId })),
        ),
      );
      const refused = whose === 'key' ? 'KEY_SPEND_LIMIT_EXCEEDED' : 'BUDGET_EXCEEDED';
      expect(outcomes.filter((outcome) => outcome === 'CREATED')).toHaveLength(2);
      expect(outcomes.filter((outcome) => outcome === refused)).toHaveLength(30);
      expect(await spentOf(tenantId)).toEqual([10n]);
    },
  );

  it('counts what is held and settled, less what came back, and says what is left', async () => {
    const { tenantId, taskId } = await setUp(100n * CREDITS);
    await limit(tenantId, 10n * CREDITS);
    await openHold(tenantId, taskId, 8n * CREDITS);
    expect(await spentOf(tenantId)).toEqual([8n]);
    await closeHold(taskId, split(6n * CREDITS, 2n * CREDITS));
    expect(await spentOf(tenantId)).toEqual([6n]);
    await refund(tenantId, taskId, 1n * CREDITS, 1);
    expect(await spentOf(tenantId)).toEqual([5n]);
    const next = await addTask(bench(), tenantId);
    expect(
      await bench().stores.money.openHold({
        ...{ taskId: next.id, tenantId, apiKeyId: null, amountMicros: 5n * CREDITS + 1n },
        ...{ holdId: newId(), entryId: newId(), now: NOW },
      }),
    ).toEqual({ kind: 'BUDGET_EXCEEDED', leftMicros: 5n * CREDITS });
    expect(await openHold(tenantId, next.id, 5n * CREDITS)).toBe('CREATED');
  });

  it('set late counts what was spent before, of its key only', async () => {
    const tenantId = await addTenant(bench(), 100n * CREDITS);
    const [first, second] = [await addKey(tenantId), await addKey(tenantId)];
    for (const [apiKeyId, amount] of [
      [first, 3n],
      [second, 4n],
    ] as const) {
      const task = await addTask(bench(), tenantId, { apiKeyId });
      await openHold(tenantId, task.id, amount * CREDITS, bench().stores, { apiKeyId });
    }
    await limit(tenantId, 50n * CREDITS, { apiKeyId: second, period: 'TOTAL' });
    await limit(tenantId, 50n * CREDITS);
    expect((await spentOf(tenantId)).sort()).toEqual([4n, 7n]);
    expect(await limit(tenantId, null)).toEqual({
      former: { period: 'MONTH', limitMicros: 50n * CREDITS },
    });
    expect(await spentOf(tenantId)).toEqual([4n]);
  });

  it('of a month begins anew with the next; what comes back of an old hold is none of its', async () => {
    const { tenantId, taskId } = await setUp(100n * CREDITS);
    await limit(tenantId, 10n * CREDITS);
    await openHold(tenantId, taskId, 9n * CREDITS);
    const january = new Date('2027-01-01T00:00:00.000Z');
    expect(await spentOf(tenantId, january)).toEqual([0n]);
    const next = await addTask(bench(), tenantId);
    expect(await openHold(tenantId, next.id, 7n * CREDITS, bench().stores, { now: january })).toBe(
      'CREATED',
    );
    await closeHold(taskId, split(0n, 9n * CREDITS));
    expect(await spentOf(tenantId, january)).toEqual([7n]);
  });

  it('is only for a living key of the tenant, and only where there is an account', async () => {
    const tenantId = await addTenant(bench(), 1n);
    const stranger = await addKey(await addTenant(bench(), 1n));
    expect(await limit(tenantId, 1n, { apiKeyId: stranger })).toBe('NO_KEY');
    expect(await limit(await addTenant(bench()), 1n)).toBe('NO_ACCOUNT');
  });

  it('that is set while a hold waits for the account counts for it', async () => {
    const tenantId = await addTenant(bench(), 100n * CREDITS);
    const task = await addTask(bench(), tenantId);
    const { waiting } = await bench().uow.transact(async (tx) => {
      await tx.money.setSpendLimit({
        ...{ id: newId(), tenantId, apiKeyId: null, now: NOW },
        limit: { period: 'MONTH', limitMicros: 3n * CREDITS },
      });
      const opening = openHold(tenantId, task.id, 4n * CREDITS);
      await eventually('the hold waits for the account', async () => {
        const rows = await bench().look(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return rows.length > 0 ? true : null;
      });
      return { waiting: opening };
    });
    expect(await waiting).toBe('BUDGET_EXCEEDED');
  });
});

describe('the ledger', () => {
  it('is never changed, deleted or emptied', async () => {
    await addTenant(bench(), 5n);
    for (const sql of [
      'UPDATE credit_ledger SET amount_micros = 6, available_delta = 6',
      'DELETE FROM credit_ledger',
      'TRUNCATE credit_ledger',
    ]) {
      await expect(bench().look(sql)).rejects.toMatchObject({ constraint: 'append_only' });
    }
  });

  it('takes the cost of an attempt once a key', async () => {
    const cost = {
      id: newId(),
      providerId: 'sandbox',
      attemptId: newId(),
      jobId: 'job-1',
      source: 'ATTEMPT',
      amount: '0.123456',
      currency: 'USD',
      rateMicros: 100_000_000n,
      businessKey: 'cost:1',
      now: NOW,
    } as const;
    const { money } = bench().stores;
    expect(await money.recordProviderCost(cost)).toBe('CREATED');
    expect(await money.recordProviderCost({ ...cost, id: newId() })).toBe('REPLAY');
    expect(await money.recordProviderCost({ ...cost, id: newId(), amount: '0.2' })).toBe(
      'CONFLICT',
    );
    expect(await money.recordProviderCost({ ...cost, id: newId(), currency: 'EUR' })).toBe(
      'CONFLICT',
    );
    const many = await Promise.all(
      Array.from({ length: 8 }, () =>
        money.recordProviderCost({ ...cost, id: newId(), businessKey: 'cost:2' }),
      ),
    );
    expect(many.sort()).toEqual(['CREATED', ...Array<string>(7).fill('REPLAY')]);
    expect(
      await bench().look(
        "SELECT amount, rate_micros FROM provider_costs WHERE business_key = 'cost:1'",
      ),
    ).toEqual([{ amount: '0.123456', rate_micros: '100000000' }]);
    await expect(bench().look('DELETE FROM provider_costs')).rejects.toMatchObject({
      constraint: 'append_only',
    });
  });
});
