import type { Settlement } from '../../../src/domain/billing/settlement';
import type { CloseHoldOutcome } from '../../../src/domain/billing/outcomes';
import { eventually } from '../../support/eventually';
import { addTask, addTenant, newId, NOW, useStores } from './fixtures';

const CREDITS = 1_000_000n;

const openHold = (
  tenantId: string,
  taskId: string,
  amountMicros: bigint,
  stores = bench().stores,
) =>
  stores.money.openHold({
    taskId,
    tenantId,
    amountMicros,
    holdId: newId(),
    entryId: newId(),
    now: NOW,
  });

const closeHold = (taskId: string, settlement: Settlement, attemptId: string | null = null) =>
  bench().stores.money.closeHold({
    taskId,
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
};

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
      await eventually('the second waits for the first', async () => {
        const rows = await bench().look(
          `SELECT 1 FROM pg_stat_activity
           WHERE datname = current_database() AND application_name = 'store-test' AND wait_event_type = 'Lock'`,
        );
        return rows.length > 0 ? true : null;
      });
      return { waiting };
    });
    expect(await late.waiting).toBe('REPLAY');
    expect(await entriesOf(taskId)).toHaveLength(1);
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
    await openHold(tenantId, taskId, 4n * CREDITS);
    expect(await refund(tenantId, taskId, 1n, 1)).toBe('OVER_LIMIT');
    await closeHold(taskId, split(4n * CREDITS, 0n));
    const stranger = await addTenant(bench(), 1n);
    expect(await refund(stranger, taskId, 1n, 2)).toBe('OVER_LIMIT');
  });
});

describe('a grant', () => {
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
    expect(await bench().look('SELECT amount, rate_micros FROM provider_costs')).toEqual([
      { amount: '0.123456', rate_micros: '100000000' },
    ]);
    await expect(bench().look('DELETE FROM provider_costs')).rejects.toMatchObject({
      constraint: 'append_only',
    });
  });
});
