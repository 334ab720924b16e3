import { createInstanceStore } from '../../../src/adapters/postgres/stores/instance-store';
import { recoverLostLeases } from '../../../src/flow/reconcile/recover-tasks';
import { useFlow, type Flow } from '../../support/flow-harness';
import { SimulatedCrash } from '../../support/flow/message-driver';

const open = useFlow();

/** A provider worker of this node that died with a request under way; its lease runs for a while yet. */
const dieWhileSending = async (flow: Flow): Promise<string> => {
  const { bootId } = flow.provider;
  await createInstanceStore(flow.pool).begin({ ...life(flow), bootId });
  const { id } = await flow.create();
  await flow.relay();
  await flow.deliver('scheduler');
  await flow.relay();
  flow.crashAt('submit.after_sending_before_http');
  await expect(flow.deliver('provider')).rejects.toThrow(SimulatedCrash);
  flow.disarm();
  return id;
};

const life = (flow: Flow) => ({
  bootId: flow.context.ids.next(flow.clock.now()),
  worker: 'provider',
  node: 'node-a',
  now: flow.clock.now(),
});

describe('a node that starts again under its name (case 17)', () => {
  it('has its old leases known to be dead at once', async () => {
    const flow = await open();
    const id = await dieWhileSending(flow);
    expect(await recoverLostLeases(flow.context, flow.slots)).toBe(0);
    const instances = createInstanceStore(flow.pool);
    expect(await instances.begin(life(flow))).toBe(1);
    expect(await recoverLostLeases(flow.context, flow.slots)).toBe(1);
    expect((await flow.task(id)).status).toBe('SUBMIT_UNKNOWN');
    expect(await instances.see(flow.provider.bootId, flow.clock.now())).toBe(false);
  });

  it.each([
    ['another node', { node: 'node-b' }],
    ['another worker of the node', { worker: 'poller' }],
  ])('says nothing of %s', async (_, other) => {
    const flow = await open();
    const id = await dieWhileSending(flow);
    const instances = createInstanceStore(flow.pool);
    expect(await instances.begin({ ...life(flow), ...other })).toBe(0);
    expect(await recoverLostLeases(flow.context, flow.slots)).toBe(0);
    expect((await flow.task(id)).status).toBe('DISPATCHING');
    expect(await instances.see(flow.provider.bootId, flow.clock.now())).toBe(true);
  });

  it('is told from one that stopped in order, whose life is forgotten in time', async () => {
    const flow = await open();
    const instances = createInstanceStore(flow.pool);
    const stopped = life(flow);
    await instances.begin(stopped);
    await instances.end(stopped.bootId, flow.clock.now());
    expect(await instances.begin(life(flow))).toBe(0);
    expect(await instances.forget(flow.clock.now())).toBe(0);
    flow.clock.advance(1_000);
    expect(await instances.forget(flow.clock.now())).toBe(2);
  });
});
