import { createRelayLagWatch } from '../../../src/flow/relay/watch-lag';
import { useFlow, type Flow } from '../../support/flow-harness';

const open = useFlow();

const alarms = async (flow: Flow) =>
  (await flow.look("SELECT detail FROM findings WHERE kind = 'RELAY_LAG'")).map(
    ({ detail }) => detail,
  );

describe('events that do not leave', () => {
  it('raise the alarm when they have been due for too long, and are lost no more than any other', async () => {
    const flow = await open();
    const watch = createRelayLagWatch(flow.context, flow.mover);
    const { id } = await flow.create();
    flow.clock.advance(flow.context.settings.relayLagAlarmMs - 1);
    await watch();
    expect(await alarms(flow)).toEqual([]);
    flow.clock.advance(1);
    expect(await watch()).toBe(flow.context.settings.relayLagAlarmMs);
    expect(await alarms(flow)).toEqual([
      { pendingMs: 20_000, openTransactionMs: 0, openTransactionOf: null },
    ]);
    await flow.drain();
    expect((await flow.task(id)).status).not.toBe('QUEUED');
    expect(await watch()).toBe(0);
  });

  it('behind a transaction that stays open raise it too, while all others go on (case 14)', async () => {
    const flow = await open({ settings: { relayLagAlarmMs: 5 } });
    const watch = createRelayLagWatch(flow.context, flow.mover);
    const holder = await flow.pool.connect();
    try {
      await holder.query('BEGIN');
      await holder.query("UPDATE providers SET display_name = 'held'");
      const { id } = await flow.create();
      await flow.relay();
      await flow.deliver('scheduler');
      expect((await flow.task(id)).status).toBe('DISPATCHING');
      await flow.drain();
      expect(await watch()).toBeGreaterThanOrEqual(5);
      expect(await alarms(flow)).toEqual([
        {
          pendingMs: 0,
          openTransactionMs: expect.any(Number) as number,
          openTransactionOf: expect.stringContaining('flow') as string,
        },
      ]);
    } finally {
      await holder.query('ROLLBACK');
      holder.release();
    }
    expect(await watch()).toBe(0);
  });

  it('of types that this version does not know raise none; they are named when they are new, and not at each look', async () => {
    const flow = await open();
    const watch = createRelayLagWatch(flow.context, flow.mover);
    const told = () => flow.log.lines.filter(({ message }) => message.includes('does not know'));
    const become = (type: string) =>
      flow.look(
        `UPDATE outbox_events SET type = $1 WHERE id = (
           SELECT id FROM outbox_events WHERE type = 'generation.queued' ORDER BY id LIMIT 1)`,
        [type],
      );
    for (let count = 0; count < 3; count += 1) await flow.create();
    expect(await watch()).toBe(0);
    expect(told()).toEqual([]);
    await become('from.tomorrow');
    await become('also.new');
    await flow.relay();
    flow.clock.advance(3_600_000);
    expect(await watch()).toBe(0);
    expect(await watch()).toBe(0);
    expect(await alarms(flow)).toEqual([]);
    expect(told()).toEqual([
      {
        level: 'warn',
        message: 'messages wait for a version that knows their type; this one does not know it',
        fields: { types: { 'also.new': 1, 'from.tomorrow': 1 }, count: 2 },
      },
    ]);
    await flow.look("DELETE FROM outbox_events WHERE type = 'also.new'");
    await watch();
    expect(told()).toHaveLength(2);
    await flow.look("UPDATE outbox_events SET type = 'generation.queued' WHERE type LIKE 'from%'");
    await flow.relay();
    await watch();
    expect(told()).toHaveLength(2);
    await flow.drain();
  });
});
