import { createOutboxRelayStore } from '../../../src/adapters/postgres/stores/outbox-relay-store';
import { createOutboxRelay, type OutboxRelaySettings } from '../../../src/flow/relay/relay-outbox';
import { ringGroups } from '../../../src/flow/relay/ring-groups';
import type { MessageBus } from '../../../src/ports/message-bus';
import type { ConsumerGroup } from '../../../src/ports/messages';
import type { OutboxMover } from '../../../src/ports/stores/message-store';
import { createRecordingLog } from '../../contract/recording-log';
import { describeOutboxMover } from './describe-outbox-mover';
import { after, eventIdsOf, NOW, openRelaySetup, type RelaySetup } from './relay-setup';

const SETTINGS: OutboxRelaySettings = {
  leaseMs: 60_000,
  retryMs: 10_000,
  triesMax: 3,
  outageMsFirst: 1_000,
  outageMsMax: 4_000,
};

let setup: RelaySetup;
beforeAll(async () => {
  setup = await openRelaySetup();
});
afterAll(() => setup.close());
afterEach(() => setup.empty());

type Publish = MessageBus['publish'];

/** The relay to the real bus behind `publish`, which may fail before, in the middle of or after the real one. */
const openRelay = (
  publish: Publish = (...args) => setup.bus.publish(...args),
  onMoved?: (groups: readonly ConsumerGroup[]) => void,
): OutboxMover =>
  createOutboxRelay({
    store: createOutboxRelayStore(setup.pool),
    bus: { publish },
    log: createRecordingLog(),
    settings: SETTINGS,
    ...(onMoved === undefined ? {} : { onMoved }),
  });

/** A bus that refuses any batch with one of these messages, and counts the batches. */
const refusing = (bad: readonly string[]) => {
  const batches: number[] = [];
  const publish: Publish = async (messages, now) => {
    batches.push(messages.length);
    if (messages.some(({ envelope }) => bad.includes(envelope.eventId))) throw new Error('refused');
    await setup.bus.publish(messages, now);
  };
  return { publish, batches };
};

describeOutboxMover(
  'relay to a bus',
  () => setup,
  (onMoved) => openRelay(undefined, onMoved),
);

describe('the relay', () => {
  it('publishes all others of a batch in which one is bad, and buries that one after its tries', async () => {
    const ids = await setup.add(7);
    const bad = ids[3]!;
    const relay = openRelay(refusing([bad]).publish);
    expect(await relay.moveBatch(NOW, 10)).toBe(6);
    expect(eventIdsOf(await setup.receive())).toEqual(ids.filter((id) => id !== bad));
    expect(await setup.statuses()).toMatchObject({ [bad]: 'PENDING' });

    for (let tries = 2; tries <= SETTINGS.triesMax; tries += 1) {
      const now = after(SETTINGS.retryMs * (tries - 1));
      await setup.add(1, now);
      expect(await relay.moveBatch(now, 10)).toBe(1);
    }
    expect(await setup.statuses()).toMatchObject({ [bad]: 'DEAD' });
  });

  it('skips nothing when the bus goes away in the middle of a batch', async () => {
    const ids = await setup.add(9);
    let taken = 0;
    let isAway = true;
    const relay = openRelay(async (messages, now) => {
      if (isAway && (messages.length > 1 || taken === 2)) throw new Error('away');
      taken += 1;
      await setup.bus.publish(messages, now);
    });
    expect(await relay.moveBatch(NOW, 10)).toBe(2);
    isAway = false;
    const resumed = after(SETTINGS.outageMsFirst);
    expect(await relay.moveBatch(resumed, 10)).toBe(1);
    expect(await relay.moveBatch(resumed, 10)).toBe(6);
    expect(eventIdsOf(await setup.receive(100, resumed))).toEqual(ids);
  });

  it('pauses longer and longer while the bus is away, probes with one row, and buries nothing', async () => {
    await setup.add(2);
    let isAway = true;
    const batches: number[] = [];
    const relay = openRelay(async (messages, now) => {
      batches.push(messages.length);
      if (isAway) throw new Error('away');
      await setup.bus.publish(messages, now);
    });
    let nowMs = 0;
    for (const pauseMs of [1_000, 2_000, 4_000, 4_000, 4_000, 4_000]) {
      expect(await relay.moveBatch(after(nowMs), 10)).toBe(0);
      const calls = batches.length;
      expect(await relay.moveBatch(after(nowMs + pauseMs - 1), 10)).toBe(0);
      expect(batches).toHaveLength(calls);
      expect((await relay.nextDueAt())!.getTime()).toBeGreaterThanOrEqual(
        after(nowMs + pauseMs).getTime(),
      );
      nowMs += pauseMs;
    }
    // The batch, its two rows alone, and five probes: more tries than a row has.
    expect(batches).toEqual([2, 1, 1, 1, 1, 1, 1, 1]);

    isAway = false;
    expect(await relay.moveBatch(after(nowMs), 10)).toBe(1);
    expect(await relay.moveBatch(after(nowMs), 10)).toBe(1);
    expect(new Set(Object.values(await setup.statuses()))).toEqual(new Set(['PUBLISHED']));
  });

  it('is not blocked by bad messages that stand first in the outbox', async () => {
    const bad = await setup.add(4, after(-1));
    const good = await setup.add(3);
    const relay = openRelay(refusing(bad).publish);
    for (let nowMs = 0; nowMs <= 30_000; nowMs += 1_000) await relay.moveBatch(after(nowMs), 10);
    expect(eventIdsOf(await setup.receive(100, after(30_000))).sort()).toEqual([...good].sort());
  });

  it('publishes again what it published before it died, and the effect is there once', async () => {
    const [id] = await setup.add(1);
    const store = createOutboxRelayStore(setup.pool);
    const dying = createOutboxRelay({
      store: { ...store, markPublished: () => Promise.reject(new Error('died before the mark')) },
      bus: setup.bus,
      log: createRecordingLog(),
      settings: SETTINGS,
    });
    await expect(dying.moveBatch(NOW, 10)).rejects.toThrow('died');

    let effects = 0;
    const consume = async (now: Date): Promise<number> => {
      const deliveries = await setup.receive(10, now);
      for (const { envelope } of deliveries) {
        await setup.uow.transact(async (tx) => {
          if (await tx.inbox.enter('scheduler', envelope.eventId, now)) effects += 1;
        });
      }
      await setup.bus.acknowledge('scheduler', deliveries);
      return deliveries.length;
    };
    expect(await consume(NOW)).toBe(1);
    expect(await openRelay().moveBatch(after(SETTINGS.leaseMs - 1), 10)).toBe(0);
    expect(await openRelay().moveBatch(after(SETTINGS.leaseMs), 10)).toBe(1);
    expect(await consume(after(SETTINGS.leaseMs))).toBe(1);
    expect(effects).toBe(1);
    expect(await setup.statuses()).toEqual({ [id!]: 'PUBLISHED' });
  });

  it('rings the bells of the groups that have something new', async () => {
    const rung: string[] = [];
    await setup.add(2);
    await openRelay(undefined, ringGroups({ ring: (channel) => rung.push(channel) })).moveBatch(
      NOW,
      10,
    );
    expect(rung).toEqual(['bus.scheduler']);
  });
});
