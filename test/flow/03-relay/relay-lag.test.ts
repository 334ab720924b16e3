import { watchRelayLag } from '../../../src/flow/relay/watch-lag';
import { useFlow, type Flow } from '../../support/flow-harness';

const open = useFlow();

const alarms = async (flow: Flow) =>
  (await flow.look("SELECT detail FROM findings WHERE kind = 'RELAY_LAG'")).map(
    ({ detail }) => detail,
  );

describe('events that do not leave', () => {
  it('raise the alarm when they have been due for too long, and are lost no more than any other', async () => {
    const flow = await open();
    const { id } = await flow.create();
    flow.clock.advance(flow.context.settings.relayLagAlarmMs - 1);
    await watchRelayLag(flow.context, flow.mover);
    expect(await alarms(flow)).toEqual([]);
    flow.clock.advance(1);
    expect(await watchRelayLag(flow.context, flow.mover)).toBe(
      flow.context.settings.relayLagAlarmMs,
    );
    expect(await alarms(flow)).toEqual([
      { pendingMs: 20_000, openTransactionMs: 0, openTransactionOf: null },
    ]);
    await flow.drain();
    expect((await flow.task(id)).status).not.toBe('QUEUED');
    expect(await watchRelayLag(flow.context, flow.mover)).toBe(0);
  });

  it('behind a transaction that stays open raise it too, while all others go on (case 14)', async () => {
    const flow = await open({ settings: { relayLagAlarmMs: 5 } });
    const holder = await flow.pool.connect();
    try {
      await holder.query('BEGIN');
      await holder.query("UPDATE providers SET display_name = 'held'");
      const { id } = await flow.create();
      await flow.relay();
      await flow.deliver('scheduler');
      expect((await flow.task(id)).status).toBe('DISPATCHING');
      await flow.drain();
      expect(await watchRelayLag(flow.context, flow.mover)).toBeGreaterThanOrEqual(5);
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
    expect(await watchRelayLag(flow.context, flow.mover)).toBe(0);
  });
});
