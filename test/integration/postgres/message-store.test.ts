import { createQueueFigures } from '../../../src/adapters/postgres/queue-figures';
import { createOutboxRelayStore } from '../../../src/adapters/postgres/stores/outbox-relay-store';
import { createPartitionStore } from '../../../src/adapters/postgres/stores/partition-store';
import type { OutboxRelayStore } from '../../../src/ports/stores/message-store';
import type { Stores } from '../../../src/ports/unit-of-work';
import { addTenant, at, newId, NOW, statusChanged, useStores } from './fixtures';

const bench = useStores();
const relay = (): OutboxRelayStore => createOutboxRelayStore(bench().pool);

const aggregateOf = (id: string, tenantId: string | null = null) =>
  ({
    type: 'generation',
    id,
    version: 3,
    tenantId,
    traceId: 'trace-1',
    causationId: 'cause-1',
  }) as const;

/** Adds one message, available at `availableAt`; answers its id. */
const send = async (stores: Stores, availableAt: Date = NOW): Promise<string> => {
  const taskId = newId();
  const message = statusChanged(taskId, availableAt);
  await stores.outbox.add(aggregateOf(taskId), [message], NOW);
  return message.eventId;
};

const claimIds = async (now: Date, limit = 100, leaseUntil = at(3600)): Promise<string[]> =>
  (await relay().claim(now, leaseUntil, limit)).map(({ envelope }) => envelope.eventId);

describe('the outbox', () => {
  it('gives the relay whole envelopes', async () => {
    const tenantId = await addTenant(bench());
    const taskId = newId();
    const message = statusChanged(taskId, at(5));
    await bench().stores.outbox.add(aggregateOf(taskId, tenantId), [message], NOW);
    expect(await relay().claim(at(5), at(60), 10)).toEqual([
      {
        availableAt: at(5),
        envelope: {
          eventId: message.eventId,
          eventType: 'task.status.changed',
          schemaVersion: 1,
          aggregateId: taskId,
          aggregateVersion: 3,
          tenantId,
          traceId: 'trace-1',
          causationId: 'cause-1',
          occurredAt: NOW.toISOString(),
          payload: message.payload,
        },
      },
    ]);
    expect(bench().rings).toEqual(['outbox']);
  });

  it('refuses a payload that is not of its type, and rings for nothing', async () => {
    const bad = { ...statusChanged(newId()), payload: { taskId: 'x' } as never };
    await expect(bench().stores.outbox.add(aggregateOf(newId()), [bad], NOW)).rejects.toMatchObject(
      { name: 'ZodError' },
    );
    await bench().stores.outbox.add(aggregateOf(newId()), [], NOW);
    expect(bench().rings).toEqual([]);
  });

  it('is delivered whole when an earlier transaction commits later', async () => {
    let ids: string[] = [];
    await bench().uow.transact(async (early) => {
      const first = await send(early);
      const second = await bench().uow.transact((late) => send(late));
      expect(await claimIds(at(1))).toEqual([second]);
      ids = [first, second];
    });
    expect(await claimIds(at(1))).toEqual([ids[0]]);
  });

  it('is leased by row, in order, up to the limit; two relays never get the same row', async () => {
    const sent: string[] = [];
    for (let i = 0; i < 40; i += 1) sent.push(await send(bench().stores, at(i % 3)));
    expect(await claimIds(at(0), 3)).toHaveLength(3);
    const parts = await Promise.all(Array.from({ length: 4 }, () => claimIds(at(2), 10)));
    const got = parts.flat();
    expect(new Set(got).size).toBe(got.length);
    const rest = await claimIds(at(2));
    expect([...got, ...rest]).toHaveLength(37);
    expect(await claimIds(at(2))).toEqual([]);
  });

  it('shows no message before its time', async () => {
    const id = await send(bench().stores, at(30));
    expect(await claimIds(at(29))).toEqual([]);
    expect(await relay().nextDueAt()).toEqual(at(30));
    expect(await claimIds(at(30))).toEqual([id]);
  });

  it('is delivered again when the relay dies between publish and mark', async () => {
    const id = await send(bench().stores);
    expect(await claimIds(at(1), 10, at(20))).toEqual([id]);
    expect(await claimIds(at(19), 10, at(40))).toEqual([]);
    expect(await claimIds(at(20), 10, at(40))).toEqual([id]);
    await relay().markPublished([id], at(21));
    expect(await claimIds(at(100))).toEqual([]);
    expect(await relay().nextDueAt()).toBeNull();
  });

  it('skips nothing when a batch fails in the middle', async () => {
    const sent: string[] = [];
    for (let i = 0; i < 5; i += 1) sent.push(await send(bench().stores));
    const [a, b, c, d, e] = await claimIds(at(1), 5, at(20));
    await relay().markPublished([a ?? '', b ?? ''], at(1));
    await relay().markFailed([c ?? ''], 'broker said no', at(5), 10);
    expect(await claimIds(at(4), 5, at(40))).toEqual([]);
    expect(await claimIds(at(5), 5, at(40))).toEqual([c]);
    expect((await claimIds(at(20), 5, at(60))).sort()).toEqual([d, e].sort());
  });

  it('keeps a message that failed too often as DEAD, with its last error', async () => {
    const id = await send(bench().stores);
    for (let tries = 1; tries <= 3; tries += 1) {
      expect(await claimIds(at(tries * 10), 10)).toEqual([id]);
      await relay().markFailed([id], `failure ${tries}`, at(tries * 10 + 5), 3);
    }
    expect(await claimIds(at(1000))).toEqual([]);
    expect(
      await bench().look('SELECT status, publish_attempts, last_error FROM outbox_events'),
    ).toEqual([{ status: 'DEAD', publish_attempts: 3, last_error: 'failure 3' }]);
  });

  it('buries what nobody can read instead of stopping before it', async () => {
    const broken = await send(bench().stores, at(0));
    const sound = await send(bench().stores, at(1));
    await bench().look("UPDATE outbox_events SET payload = '{}' WHERE id = $1", [broken]);
    expect(await claimIds(at(2))).toEqual([sound]);
    expect(await bench().look("SELECT id FROM outbox_events WHERE status = 'DEAD'")).toEqual([
      { id: broken },
    ]);
  });

  it('tells the age of the oldest message that should be out', async () => {
    expect(await relay().oldestPendingAgeMs(NOW)).toBe(0);
    const id = await send(bench().stores, at(30));
    expect(await relay().oldestPendingAgeMs(at(10))).toBe(0);
    expect(await relay().oldestPendingAgeMs(at(40))).toBe(10_000);
    await claimIds(at(40));
    // Failing again and again makes nothing look younger.
    await relay().markFailed([id], 'broker away', at(500), 10);
    expect(await relay().oldestPendingAgeMs(at(100))).toBe(100_000);
  });

  it('holds nothing up with types of a newer version, neither tried nor new, and tells how many there are', async () => {
    const figures = async () =>
      Object.fromEntries(
        (await createQueueFigures(bench().pool)(at(100))).map(({ name, value }) => [name, value]),
      );
    for (const type of ['from.tomorrow', 'from.tomorrow', 'also.new']) {
      const id = await send(bench().stores, at(0));
      await bench().look('UPDATE outbox_events SET type = $2 WHERE id = $1', [id, type]);
    }
    await bench().look(
      "UPDATE outbox_events SET last_error = 'broker away' WHERE type = 'also.new'",
    );
    expect(await claimIds(at(100))).toEqual([]);
    expect(await relay().nextDueAt()).toBeNull();
    expect(await relay().oldestPendingAgeMs(at(100))).toBe(0);
    expect(await relay().countUnknown()).toEqual([
      { type: 'also.new', count: 1 },
      { type: 'from.tomorrow', count: 2 },
    ]);
    expect(await figures()).toMatchObject({
      aivedio_outbox_oldest_age_seconds: 0,
      aivedio_outbox_unknown_messages: 3,
    });
    const known = await send(bench().stores, at(60));
    expect(await relay().oldestPendingAgeMs(at(100))).toBe(40_000);
    expect(await figures()).toMatchObject({
      aivedio_outbox_oldest_age_seconds: 40,
      aivedio_outbox_unknown_messages: 3,
    });
    expect(await claimIds(at(100))).toEqual([known]);
    expect(
      await bench().look("SELECT DISTINCT status FROM outbox_events WHERE type LIKE '%new%'"),
    ).toEqual([{ status: 'PENDING' }]);
  });
});

describe('the inbox', () => {
  it('lets each group handle an event once', async () => {
    const { inbox } = bench().stores;
    const eventId = newId();
    expect(await inbox.enter('scheduler', eventId, NOW)).toBe(true);
    expect(await inbox.enter('scheduler', eventId, NOW)).toBe(false);
    expect(await inbox.enter('provider', eventId, NOW)).toBe(true);
  });

  it('forgets an event whose effect was rolled back', async () => {
    const eventId = newId();
    await expect(
      bench().uow.transact(async (tx) => {
        await tx.inbox.enter('scheduler', eventId, NOW);
        throw new Error('no effect');
      }),
    ).rejects.toThrow('no effect');
    expect(await bench().stores.inbox.enter('scheduler', eventId, NOW)).toBe(true);
  });

  it('of eight deliveries at once lets one in', async () => {
    const eventId = newId();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        bench().uow.transact((tx) => tx.inbox.enter('reducer', eventId, NOW)),
      ),
    );
    expect(answers.filter((isFirst) => isFirst)).toHaveLength(1);
  });
});

describe('daily partitions', () => {
  it('are made ahead and dropped behind; a day with unsent messages stays', async () => {
    const partitions = createPartitionStore(bench().pool);
    expect(await partitions.ensureDays(NOW, 2)).toBe(6);
    expect(await partitions.ensureDays(NOW, 3)).toBe(3);
    const unsent = await send(bench().stores);
    const [row] = await bench().look('SELECT tableoid::regclass::text AS part FROM outbox_events');
    expect(row).toEqual({ part: 'partitions.outbox_events_20261201' });
    const afterTwoDays = new Date(NOW.getTime() + 2 * 86_400_000);
    expect(await partitions.dropBefore(afterTwoDays)).toBe(5);
    await relay().markPublished([unsent], NOW);
    expect(await partitions.dropBefore(afterTwoDays)).toBe(1);
  });
});
