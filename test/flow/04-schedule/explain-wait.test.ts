import { explainWait } from '../../../src/flow/explain/explain-wait';
import type { Wait } from '../../../src/flow/explain/wait-words';
import { useFlow, type Flow } from '../../support/flow-harness';

const open = useFlow();

const waitOf = async (flow: Flow, taskId: string): Promise<Wait> => {
  const wait = await explainWait(flow.context, flow.slots, await flow.task(taskId));
  if (wait === null) throw new Error(`${taskId} does not wait`);
  return wait;
};

/** Lets a job of somebody else end, so that it is known how long one keeps its place. */
const learnHeldMs = async (flow: Flow): Promise<number> => {
  const { id } = await flow.submit({ tenantId: await flow.addTenant() });
  await flow.finishJob(id);
  const { createdAt, completedAt } = await flow.attempt(id);
  return (completedAt?.getTime() ?? 0) - createdAt.getTime();
};

const createMany = async (flow: Flow, tenantId: string, count: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) {
    flow.clock.advance(1);
    ids.push((await flow.create({ tenantId })).id);
  }
  return ids;
};

describe('why a generation waits', () => {
  it('is told with the scheduler’s own numbers: three tenants, their tiers and limits, in fair order', async () => {
    const flow = await open({ accountConcurrentMax: 4, tenant: { inFlightMax: 2 } });
    const heldMs = await learnHeldMs(flow);
    const wide = await flow.addTenant({ inFlightMax: 5 });
    const premium = await flow.addTenant({ tier: 'PREMIUM', inFlightMax: 1 });
    for (const tenantId of [flow.tenantId, flow.tenantId, wide, premium]) {
      await flow.submit({ tenantId, fault: 'hang' });
    }
    const mine = await createMany(flow, flow.tenantId, 3);
    const theirs = await createMany(flow, wide, 2);
    const [first] = await createMany(flow, premium, 1);
    // By tier; then by what a tenant has in flight with its own place; then by time.
    const order = [first, theirs[0], mine[0], theirs[1], mine[1], mine[2]] as string[];
    const waits = await Promise.all(order.map((id) => waitOf(flow, id)));
    expect(waits.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(waits.map(({ limit }) => limit)).toEqual([
      { name: 'TENANT', used: 1, max: 1, position: 1 },
      { name: 'ACCOUNT', used: 4, max: 4, position: 1 },
      { name: 'TENANT', used: 2, max: 2, position: 1 },
      { name: 'ACCOUNT', used: 4, max: 4, position: 2 },
      { name: 'TENANT', used: 2, max: 2, position: 2 },
      { name: 'TENANT', used: 2, max: 2, position: 3 },
    ]);
    const shares = [1 / 1, 1 / 4, 1 / 2, 2 / 4, 2 / 2, 3 / 2];
    expect(waits.map(({ estimateMs }) => estimateMs)).toEqual(
      shares.map((share) => Math.round(share * heldMs)),
    );
    const about = Math.round((1.5 * heldMs) / 1000);
    expect(waits[5]?.text).toBe(
      `tenant limit 2 of 2, third in line, about ${about < 120 ? `${about} s` : `${Math.round(about / 60)} min`}`,
    );
    // The scheduler agrees: the next free place goes to the one tenant that its own limit lets pass.
    await flow.look('UPDATE provider_accounts SET concurrent_max = 5');
    expect(await flow.runPass()).toMatchObject({ dispatched: 1 });
    const served = await Promise.all(theirs.map(async (id) => (await flow.task(id)).status));
    expect(served).toContain('DISPATCHING');
  });

  it('is its turn when a place is free, and a pause when there is one', async () => {
    const flow = await open();
    const { id } = await flow.create();
    expect(await waitOf(flow, id)).toMatchObject({
      reason: 'IN_LINE',
      position: 1,
      estimateMs: 0,
      text: 'next in line',
    });
    const openUntil = new Date(flow.clock.now().getTime() + 30_000);
    await flow.look('UPDATE provider_accounts SET circuit_open_until = $1', [openUntil]);
    expect(await waitOf(flow, id)).toMatchObject({
      reason: 'CIRCUIT_OPEN',
      until: openUntil,
      limit: null,
      text: 'the provider failed too often: nothing new is sent to it, for 30 s',
    });
    await flow.look(`UPDATE tenants SET status = 'PAUSED'`);
    expect((await waitOf(flow, id)).reason).toBe('TENANT_PAUSED');
  });

  it('is nothing once it is under way', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'hang' });
    expect(await explainWait(flow.context, flow.slots, await flow.task(id))).toBeNull();
  });
});
