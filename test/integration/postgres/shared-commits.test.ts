import type { PoolClient } from 'pg';

import { DatabaseUnavailableError, type Stores } from '../../../src/ports/unit-of-work';
import type { Task } from '../../../src/domain/generation/task';
import { eventually } from '../../support/eventually';
import {
  addTask,
  addTenant,
  at,
  mustRead,
  newId,
  newTask,
  NOW,
  ORIGIN,
  statusChanged,
  useStores,
} from './fixtures';

const bench = useStores();

const CLAIM = { event: 'dispatch_claimed', to: 'DISPATCHING' } as const;

const share = <T>(subject: string, work: (tx: Stores) => Promise<T>, line = 'a line'): Promise<T> =>
  bench().uow.transact(work, { line, subject });

const addTasks = async (count: number): Promise<Task[]> => {
  const tenantId = await addTenant(bench());
  const tasks: Task[] = [];
  for (let i = 0; i < count; i += 1) tasks.push(await addTask(bench(), tenantId));
  return tasks;
};

const move = (tx: Stores, task: Task, now = NOW) =>
  tx.tasks.move({
    task,
    step: CLAIM,
    patch: { scheduleAt: null },
    eventId: newId(),
    origin: { ...ORIGIN, payload: { of: task.id } },
    messages: [statusChanged(task.id)],
    now,
  });

const transactionsThatWrote = async (tasks: readonly Task[]): Promise<number> => {
  const rows = await bench().look(
    'SELECT DISTINCT xmin::text FROM generation_tasks WHERE id = ANY ($1::uuid[])',
    [tasks.map(({ id }) => id)],
  );
  return rows.length;
};

/** Names of the statements that the pool sends from now on. */
const listen = (): string[] => {
  const names: string[] = [];
  bench().pool.on('acquire', (client: PoolClient) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    Object.assign(client, {
      query: (...args: [string | { name?: string }]) => {
        const [asked] = args;
        names.push(typeof asked === 'string' ? asked : (asked.name ?? ''));
        return query(...args);
      },
    });
  });
  return names;
};

describe('transactions of one line', () => {
  it('that come together are one, and each hears of its own', async () => {
    const tasks = await addTasks(5);
    const answers = await Promise.all(
      tasks.map((task, i) =>
        share(task.id, async (tx) => {
          const locked = await tx.tasks.lock(task.id);
          const moved = locked === null ? null : await move(tx, locked, at(i));
          return [locked?.id, moved?.id, moved?.updatedAt];
        }),
      ),
    );
    expect(answers).toEqual(tasks.map(({ id }, i) => [id, id, at(i)]));
    expect(await transactionsThatWrote(tasks)).toBe(1);
    const history = await bench().look(
      `SELECT e.task_id, e.payload ->> 'of' AS of, o.causation_id = e.event_id::text AS caused
       FROM task_state_events e JOIN outbox_events o ON o.aggregate_id = e.task_id
       WHERE e.type = 'dispatch_claimed' ORDER BY e.task_id`,
    );
    expect(history).toEqual(tasks.map(({ id }) => ({ task_id: id, of: id, caused: true })));
  });

  it('are guarded row by row: one that was judged too late moves nothing, the others move', async () => {
    const tasks = await addTasks(3);
    const [stale] = tasks as [Task];
    await bench().uow.transact((tx) => move(tx, stale));
    const moved = await Promise.all(tasks.map((task) => share(task.id, (tx) => move(tx, task))));
    expect(moved.map((each) => each?.version ?? null)).toEqual([null, 5, 5]);
    const [counts] = await bench().look(
      `SELECT (SELECT count(*)::int FROM task_state_events WHERE type = 'dispatch_claimed') AS events,
         (SELECT count(*)::int FROM outbox_events) AS messages`,
    );
    expect(counts).toEqual({ events: 3, messages: 3 });
  });

  it('lose nothing by one that rejects, which keeps nothing itself', async () => {
    const tasks = await addTasks(4);
    const refusal = new Error('no');
    const ended = await Promise.allSettled(
      tasks.map((task, i) =>
        share(task.id, async (tx) => {
          await move(tx, task);
          if (i === 1) throw refusal;
        }),
      ),
    );
    expect(ended.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect(ended[1]).toEqual({ status: 'rejected', reason: refusal });
    const read = await Promise.all(tasks.map(({ id }) => mustRead(bench().stores, id)));
    expect(read.map(({ version }) => version)).toEqual([5, 4, 5, 5]);
    expect(await bench().look('SELECT 1 FROM outbox_events')).toHaveLength(3);
  });

  it('lose nothing by a statement that fails', async () => {
    const tenantId = await addTenant(bench());
    const taken = await addTask(bench(), tenantId);
    const tasks = [newTask(tenantId), { ...newTask(tenantId), id: taken.id }, newTask(tenantId)];
    const ended = await Promise.allSettled(
      tasks.map((task) => share(task.clientIdempotencyKey, (tx) => tx.tasks.insert(task, [], NOW))),
    );
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(ended[1]).toMatchObject({ reason: { code: '23505' } });
  });

  it('enter an event once, also when it comes twice at the same time', async () => {
    const eventId = newId();
    const entered = await Promise.all(
      ['a', 'b', 'c'].map((subject) =>
        share(subject, (tx) => tx.inbox.enter('reducer', subject === 'c' ? newId() : eventId, NOW)),
      ),
    );
    expect(entered.filter(Boolean)).toHaveLength(2);
    expect(await bench().look('SELECT 1 FROM inbox_dedup')).toHaveLength(2);
  });

  it('do not wait for a row that somebody holds, but for their neighbour who wants it', async () => {
    const tasks = await addTasks(3);
    const [held] = tasks as [Task];
    const holder = await bench().database.pool.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT 1 FROM generation_tasks WHERE id = $1 FOR UPDATE', [held.id]);
      const ended: string[] = [];
      const all = tasks.map(async (task) => {
        await share(task.id, async (tx) => {
          const locked = await tx.tasks.lock(task.id);
          if (locked !== null) await move(tx, locked);
        });
        ended.push(task.id);
      });
      await eventually('the neighbours have ended', () => (ended.length === 2 ? true : null));
      expect(ended).not.toContain(held.id);
      await holder.query('COMMIT');
      await Promise.all(all);
      expect(ended).toContain(held.id);
    } finally {
      holder.release();
    }
  });

  it('lock no task after an account, and everything in order, however their ways differ', async () => {
    const rich = await addTenant(bench(), 100_000_000n);
    const richer = await addTenant(bench(), 100_000_000n);
    const tasks = [await addTask(bench(), richer), await addTask(bench(), rich)];
    const names = listen();
    await Promise.all(
      tasks.map((task, i) =>
        share(String(i), async (tx) => {
          // The second one comes to its lock only after two questions.
          for (let asked = 0; asked < i * 2; asked += 1) await tx.tasks.read(task.id);
          await tx.tasks.lock(task.id);
          await tx.money.openHold({
            taskId: task.id,
            tenantId: task.tenantId,
            apiKeyId: null,
            amountMicros: 5_000_000n,
            holdId: newId(),
            entryId: newId(),
            now: NOW,
          });
        }),
      ),
    );
    expect(names.slice(1)).toEqual([
      ...['read-task', 'read-task', 'lock-tasks', 'open-hold', 'open-hold', 'COMMIT'],
    ]);
    const order = await bench().look('SELECT tenant_id FROM holds ORDER BY ctid');
    expect(order.map(({ tenant_id: tenantId }) => tenantId)).toEqual([rich, richer]);
  });

  it('tell everybody when the database goes away', async () => {
    const tasks = await addTasks(3);
    const ended = await Promise.allSettled(
      tasks.map((task, i) =>
        share(task.id, async (tx) => {
          await move(tx, task);
          if (i === 0) {
            await bench().look(
              `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
               WHERE application_name = 'store-test' AND datname = current_database()`,
            );
          }
          await tx.tasks.read(task.id);
        }),
      ),
    );
    for (const each of ended) {
      expect(each).toMatchObject({ reason: expect.any(DatabaseUnavailableError) as unknown });
    }
    expect(await transactionsThatWrote(tasks)).toBe(3);
  });

  it('of which two are about one subject stay apart', async () => {
    const tasks = await addTasks(2);
    await Promise.all(tasks.map((task) => share('one', (tx) => move(tx, task))));
    expect(await transactionsThatWrote(tasks)).toBe(2);
  });

  it('ring once they are committed, and hand nothing over that was rolled back', async () => {
    const tasks = await addTasks(3);
    await Promise.allSettled(
      tasks.map((task, i) =>
        share(task.id, async (tx) => {
          await move(tx, task);
          expect(bench().rings).toEqual([]);
          if (i > 0) throw new Error('no');
        }),
      ),
    );
    expect(bench().rings).toEqual(['outbox']);
  });
});
