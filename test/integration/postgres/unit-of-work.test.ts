import { createPool } from '../../../src/adapters/postgres/pool';
import { createUnitOfWork } from '../../../src/adapters/postgres/unit-of-work';
import { DatabaseUnavailableError } from '../../../src/ports/unit-of-work';
import { eventually } from '../../support/eventually';
import {
  addTask,
  addTenant,
  at,
  mustRead,
  newId,
  newTask,
  NOW,
  SILENT_LOG,
  statusChanged,
  useStores,
} from './fixtures';

const bench = useStores();

const cutConnections = () =>
  bench().look(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'store-test' AND datname = current_database()`,
  );

describe('a transaction', () => {
  it('keeps everything when the work resolves, and hands its answer on', async () => {
    const tenantId = await addTenant(bench());
    const task = newTask(tenantId);
    const answer = await bench().uow.transact(async (tx) => {
      await tx.tasks.insert(task, [], NOW);
      await tx.inbox.enter('scheduler', newId(), NOW);
      return 'done';
    });
    expect(answer).toBe('done');
    expect(await bench().stores.tasks.read(task.id)).toMatchObject({ id: task.id });
  });

  it('keeps nothing when the work rejects, and passes the rejection on', async () => {
    const tenantId = await addTenant(bench());
    const task = newTask(tenantId);
    const refusal = new Error('no');
    await expect(
      bench().uow.transact(async (tx) => {
        await tx.tasks.insert(task, [statusChanged(task.id)], NOW);
        throw refusal;
      }),
    ).rejects.toBe(refusal);
    expect(await bench().stores.tasks.read(task.id)).toBeNull();
    expect(await bench().look('SELECT 1 FROM outbox_events')).toEqual([]);
    expect(bench().rings).toEqual([]);
  });

  it('keeps nothing when its very first statement fails', async () => {
    const first = await addTask(bench(), await addTenant(bench()));
    await expect(
      bench().uow.transact(async (tx) => {
        await tx.tasks.insert({ ...newTask(first.tenantId), id: first.id }, [], NOW);
      }),
    ).rejects.toMatchObject({ code: '23505' });
    expect(await bench().stores.tasks.read(first.id)).toEqual(first);
  });

  it('does not pretend to have committed when the work passed over a failed statement', async () => {
    const tenantId = await addTenant(bench());
    const task = newTask(tenantId);
    await expect(
      bench().uow.transact(async (tx) => {
        await tx.tasks.insert(task, [], NOW);
        await tx.tasks.insert({ ...newTask(tenantId), id: task.id }, [], NOW).catch(() => null);
      }),
    ).rejects.toThrow('rolled back');
    expect(await bench().stores.tasks.read(task.id)).toBeNull();
  });

  it('sends statements in order even when the work does not wait for each', async () => {
    const task = await addTask(bench(), await addTenant(bench()));
    await bench().uow.transact(async (tx) => {
      await Promise.all([
        tx.tasks.lock(task.id),
        tx.tasks.raiseProgress(task.id, 5),
        tx.tasks.raiseProgress(task.id, 7),
      ]);
    });
    expect(await mustRead(bench().stores, task.id)).toMatchObject({ progress: 7 });
  });
});

describe('the bell', () => {
  it('rings after the commit: what it announces is there to be read', async () => {
    const task = newTask(await addTenant(bench()));
    const seen: Promise<unknown[]>[] = [];
    const uow = createUnitOfWork({
      pool: bench().pool,
      log: SILENT_LOG,
      bell: { ring: () => void seen.push(bench().look('SELECT id FROM outbox_events')) },
    });
    const message = statusChanged(task.id);
    await uow.transact(async (tx) => {
      await tx.tasks.insert(task, [message], NOW);
      expect(seen).toHaveLength(0);
    });
    expect(await Promise.all(seen)).toEqual([[{ id: message.eventId }]]);
  });

  it('rings once a transaction, and not for one without messages', async () => {
    const tenantId = await addTenant(bench());
    await bench().uow.transact(async (tx) => {
      for (const task of [newTask(tenantId), newTask(tenantId)]) {
        await tx.tasks.insert(task, [statusChanged(task.id)], NOW);
      }
    });
    expect(bench().rings).toEqual(['outbox']);
    await bench().uow.transact((tx) => tx.tasks.insert(newTask(tenantId), [], NOW));
    expect(bench().rings).toEqual(['outbox']);
  });

  it('does not undo a commit by being broken', async () => {
    const task = newTask(await addTenant(bench()));
    const ring = (): never => {
      throw new Error('no bell');
    };
    const uow = createUnitOfWork({ pool: bench().pool, bell: { ring }, log: SILENT_LOG });
    await uow.transact((tx) => tx.tasks.insert(task, [statusChanged(task.id)], NOW));
    expect(await bench().stores.tasks.read(task.id)).not.toBeNull();
  });
});

describe('a collision', () => {
  it('of two that lock in opposite order is repeated from the start until both succeed', async () => {
    const tenantId = await addTenant(bench());
    const [a, b] = [await addTask(bench(), tenantId), await addTask(bench(), tenantId)];
    let runs = 0;
    let holders = 0;
    let bothHoldOne: () => void = () => undefined;
    const meet = new Promise<void>((resolve) => (bothHoldOne = resolve));
    const cross = (first: string, second: string, progress: number) =>
      bench().uow.transact(async (tx) => {
        runs += 1;
        await tx.tasks.lock(first);
        holders += 1;
        if (holders === 2) bothHoldOne();
        await meet;
        await tx.tasks.lock(second);
        await tx.tasks.raiseProgress(first, progress);
      });
    await Promise.all([cross(a.id, b.id, 10), cross(b.id, a.id, 20)]);
    expect(runs).toBeGreaterThanOrEqual(3);
    expect(await mustRead(bench().stores, a.id)).toMatchObject({ progress: 10 });
    expect(await mustRead(bench().stores, b.id)).toMatchObject({ progress: 20 });
  });

  it('that never ends is given up after three repeats', async () => {
    let runs = 0;
    await expect(
      bench().uow.transact(() => {
        runs += 1;
        return Promise.reject(Object.assign(new Error('serialise'), { code: '40001' }));
      }),
    ).rejects.toThrow('serialise');
    expect(runs).toBe(4);
  });

  it('does not ring for messages of a run that was rolled back', async () => {
    const task = newTask(await addTenant(bench()));
    let runs = 0;
    await bench().uow.transact(async (tx) => {
      runs += 1;
      if (runs > 1) return;
      await tx.tasks.insert(task, [statusChanged(task.id)], NOW);
      throw Object.assign(new Error('serialise'), { code: '40001' });
    });
    expect(bench().rings).toEqual([]);
  });

  it('with a migration is repeated on a fresh connection', async () => {
    const task = await addTask(bench(), await addTenant(bench()));
    await bench().look('ALTER TABLE generation_tasks ADD COLUMN later integer');
    expect(await bench().stores.tasks.read(task.id)).toMatchObject({ id: task.id });
    await bench().uow.transact(async (tx) => {
      expect(await tx.tasks.lock(task.id)).toMatchObject({ id: task.id });
    });
  });
});

describe('when the database goes away', () => {
  it('a server that is not there is DatabaseUnavailableError, in and outside transactions', async () => {
    const pool = createPool({
      connectionString: 'postgresql://nobody@127.0.0.1:1/none',
      max: 1,
      applicationName: 'store-test',
      connectionTimeoutMs: 1000,
      statementTimeoutMs: 1000,
      idleInTransactionTimeoutMs: 1000,
    });
    const uow = createUnitOfWork({ pool, bell: { ring: () => undefined }, log: SILENT_LOG });
    await expect(uow.stores.tasks.read(newId())).rejects.toBeInstanceOf(DatabaseUnavailableError);
    await expect(uow.transact((tx) => tx.tasks.read(newId()))).rejects.toBeInstanceOf(
      DatabaseUnavailableError,
    );
    await expect(pool.query('SELECT 1')).rejects.toBeInstanceOf(DatabaseUnavailableError);
    await pool.end();
  });

  it('cut idle connections leave the pool by themselves', async () => {
    const task = await addTask(bench(), await addTenant(bench()));
    await cutConnections();
    await eventually('the pool is empty', () => (bench().pool.totalCount === 0 ? true : null));
    expect(await mustRead(bench().stores, task.id)).toEqual(task);
  });

  it('a connection cut inside a transaction is told as such; the next transaction works', async () => {
    const task = await addTask(bench(), await addTenant(bench()));
    await expect(
      bench().uow.transact(async (tx) => {
        await tx.tasks.raiseProgress(task.id, 50);
        await cutConnections();
        await tx.tasks.raiseProgress(task.id, 60);
      }),
    ).rejects.toBeInstanceOf(DatabaseUnavailableError);
    await bench().uow.transact((tx) => tx.tasks.raiseProgress(task.id, 10));
    expect(await mustRead(bench().stores, task.id)).toMatchObject({ progress: 10 });
  });

  it('a connection that ends between two statements ends neither the process nor the pool', async () => {
    const task = await addTask(bench(), await addTenant(bench()));
    const lost = bench().uow.transact(async (tx) => {
      await tx.tasks.raiseProgress(task.id, 50);
      await cutConnections();
      await eventually('the cut is felt', async () => {
        const felt = await tx.tasks.read(task.id).catch((error: unknown) => error);
        return felt instanceof DatabaseUnavailableError ? felt : null;
      });
    });
    await expect(lost).rejects.toBeInstanceOf(DatabaseUnavailableError);
    await eventually('a free pool', () => (bench().pool.totalCount === 0 ? true : null));
  });

  it('a transaction that idles too long is ended by the server and changes nothing', async () => {
    const pool = createPool({
      connectionString: bench().database.url,
      max: 1,
      applicationName: 'store-test',
      connectionTimeoutMs: 5000,
      statementTimeoutMs: 5000,
      idleInTransactionTimeoutMs: 20,
    });
    const uow = createUnitOfWork({ pool, bell: { ring: () => undefined }, log: SILENT_LOG });
    const task = await addTask(bench(), await addTenant(bench()));
    const idled = uow.transact(async (tx) => {
      await tx.tasks.raiseProgress(task.id, 50);
      await eventually('the server ended it', async () => {
        const rows = await bench().look(
          "SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()",
        );
        return rows.length === 0 ? true : null;
      });
      await tx.tasks.raiseProgress(task.id, 60);
    });
    await expect(idled).rejects.toBeInstanceOf(DatabaseUnavailableError);
    expect(await mustRead(uow.stores, task.id)).toMatchObject({ progress: 0 });
    await pool.end();
  });
});

describe('values', () => {
  it('come as bigint, UTC dates, exact decimals and null', async () => {
    const { rows } = await bench().pool.query(
      `SELECT 9007199254740993::int8 AS big, '2026-12-01 10:00:00.123+00'::timestamptz AS at,
         'infinity'::timestamptz AS never, 1.50::numeric(20,6) AS cost, NULL::int8 AS none,
         '1890-01-01 00:00:00+00'::timestamptz AS old`,
    );
    expect(rows).toEqual([
      {
        big: 9_007_199_254_740_993n,
        at: new Date('2026-12-01T10:00:00.123Z'),
        never: Infinity,
        cost: '1.500000',
        none: null,
        old: new Date('1890-01-01T00:00:00Z'),
      },
    ]);
    expect(at(0)).toEqual(NOW);
  });

  it('do not change how others in the process read from pg', async () => {
    const [row] = await bench().look('SELECT 1::int8 AS big');
    expect(row).toEqual({ big: '1' });
  });
});
