import { readLoad } from '../../../src/adapters/postgres/read-load';
import { onlyProxy } from '../../support/flow/expectations';
import { useFlow } from '../../support/flow-harness';

const open = useFlow();
const HOUR_MS = 3_600_000;

describe('the load as the facts tell it', () => {
  it('says what was created, how long slots were kept, and who asked', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const began = flow.clock.now();
    const other = await flow.addTenant();
    const done = await flow.submit();
    await flow.jobReached(done.id);
    flow.clock.advance(7_000);
    await flow.finishJob(done.id);
    await flow.drain();
    expect(await flow.task(done.id)).toMatchObject({ status: 'SUCCEEDED' });
    await flow.create({ tenantId: other });
    flow.clock.advance(1_000);

    const load = await readLoad(
      flow.database.pool,
      new Date(began.getTime() - 1),
      flow.clock.now(),
    );
    const [kept] = await flow.look(
      'SELECT extract(epoch FROM completed_at - created_at)::float8 AS seconds FROM task_attempts',
    );
    expect(kept?.['seconds']).toBeGreaterThanOrEqual(7);
    const [raw] = await flow.look(
      `SELECT size_bytes::int8 AS size FROM assets WHERE kind = 'RAW_OUTPUT'`,
    );
    expect(load).toMatchObject({
      created: 2,
      heldS: kept?.['seconds'],
      successShare: 1,
      outputSizeBytes: Number(raw?.['size']),
      mediaS: 0,
      waiting: 1,
      tenants: [{ share: 1 }, { share: 1 }],
    });
    expect(load.transitions).toBeGreaterThan(10);
    expect(load.slots).toBeGreaterThan(0);
  });

  it('knows nothing of a time in which nothing happened', async () => {
    const flow = await open();
    const until = new Date(flow.clock.now().getTime() - HOUR_MS);
    expect(
      await readLoad(flow.database.pool, new Date(until.getTime() - HOUR_MS), until),
    ).toMatchObject({
      created: 0,
      heldS: null,
      successShare: null,
      outputSizeBytes: null,
      mediaS: null,
      transitions: 0,
      tenants: [],
    });
  });
});
