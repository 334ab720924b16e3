import { statementOf } from '../../../src/adapters/postgres/statements';
import { addTask, addTenant, at, moveTask, NOW, useStores, type StoreBench } from './fixtures';

const bench = useStores();

const listTenants = async (limit: number, now = at(1000)): Promise<string[]> =>
  (await bench().stores.tasks.listCandidates(now, limit)).map(({ tenantId }) => tenantId);

const addQueued = async (tenantId: string, count: number, from = 0, priority = 0) => {
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const task = await addTask(bench(), tenantId, { priority }, at(from + i));
    ids.push(task.id);
  }
  return ids;
};

const dispatch = async (on: StoreBench, tenantId: string, count: number) => {
  for (let i = 0; i < count; i += 1) {
    const task = await addTask(on, tenantId);
    await moveTask(
      on.stores,
      task,
      { event: 'dispatch_claimed', to: 'DISPATCHING' },
      {
        scheduleAt: null,
      },
    );
  }
};

describe('candidates', () => {
  it('of one tenant come in the order of their waiting, with their places', async () => {
    const tenantId = await addTenant(bench());
    const ids = await addQueued(tenantId, 3);
    expect(await bench().stores.tasks.listCandidates(at(10), 2)).toMatchObject([
      { taskId: ids[0], tenantId, status: 'QUEUED', position: 1 },
      { taskId: ids[1], tenantId, status: 'QUEUED', position: 2 },
    ]);
  });

  it('of two tenants take turns, however many one has brought first', async () => {
    const [a, b] = [await addTenant(bench()), await addTenant(bench())];
    await addQueued(a, 6, 0);
    await addQueued(b, 2, 100);
    expect(await listTenants(6)).toEqual([a, b, a, b, a, a]);
  });

  it('go first to the tenant with less in flight', async () => {
    const [a, b] = [await addTenant(bench()), await addTenant(bench())];
    await dispatch(bench(), a, 2);
    await addQueued(a, 2, 0);
    await addQueued(b, 3, 100);
    expect(await listTenants(5)).toEqual([b, b, a, b, a]);
  });

  it('of higher priority come before all fairness', async () => {
    const [a, b] = [await addTenant(bench()), await addTenant(bench())];
    await dispatch(bench(), a, 2);
    await addQueued(b, 2, 0, 0);
    await addQueued(a, 1, 100, 5);
    expect(await listTenants(3)).toEqual([a, b, b]);
  });

  it('wait again after a retry, once it is due', async () => {
    const tenantId = await addTenant(bench());
    const { stores } = bench();
    let task = await addTask(bench(), tenantId);
    task = await moveTask(
      stores,
      task,
      { event: 'dispatch_claimed', to: 'DISPATCHING' },
      {
        scheduleAt: null,
      },
    );
    task = await moveTask(
      stores,
      task,
      { event: 'submit_rejected', to: 'RETRY_WAIT' },
      { scheduleAt: at(60), nextRetryAt: at(60), waitingSince: NOW },
    );
    expect(await stores.tasks.listCandidates(at(59), 5)).toEqual([]);
    expect(await stores.tasks.listCandidates(at(60), 5)).toMatchObject([
      { taskId: task.id, status: 'RETRY_WAIT' },
    ]);
  });

  it('are found through the partial index, not by a look at every generation', async () => {
    const tenantId = await addTenant(bench());
    await addTask(bench(), tenantId);
    await bench().look('ALTER TABLE generation_tasks DISABLE TRIGGER USER');
    await bench().look(
      `INSERT INTO generation_tasks (id, tenant_id, client_idempotency_key, request_hash, status, version,
         requested_model, priority, price_micros, deadline_at, trace_id, created_at, updated_at, finished_at)
       SELECT gen_random_uuid(), $1, 'n' || n, 'h', 'SUCCEEDED', 9, 'm', 0, 0, $2, 't', $2, $2, $2
       FROM generate_series(1, 10000) n`,
      [tenantId, NOW],
    );
    await bench().look('ANALYZE generation_tasks');
    const { text, parameters } = statementOf('list-candidates');
    const given: Record<string, unknown> = {
      now: at(1),
      limit: 5,
      scanned: 5000,
      taskIds: null,
    };
    const plan = JSON.stringify(
      await bench().look(
        `EXPLAIN ${text}`,
        parameters.map((name) => given[name]),
      ),
    );
    expect(plan).toContain('generation_tasks_schedulable');
    expect(plan).toContain('generation_tasks_live');
    expect(plan).not.toContain('Seq Scan on generation_tasks');
    expect(await bench().stores.tasks.listCandidates(at(1), 5)).toHaveLength(1);
    const live = await bench().stores.tasks.countLiveOf(tenantId);
    expect(live).toEqual({ queued: 1, inFlight: 0 });
  });

  it('of a tenant are counted as queued or in flight until they end', async () => {
    const tenantId = await addTenant(bench());
    await addQueued(tenantId, 3);
    await dispatch(bench(), tenantId, 2);
    expect(await bench().stores.tasks.countLiveOf(tenantId)).toEqual({ queued: 3, inFlight: 2 });
    expect(await bench().stores.tasks.countLiveOf(await addTenant(bench()))).toEqual({
      queued: 0,
      inFlight: 0,
    });
  });
});
