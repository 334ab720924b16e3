import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { startPgbouncer, type Pgbouncer } from '../../../cluster/servers/pgbouncer';
import { createPool } from '../../../src/adapters/postgres';
import { poolDatabase } from '../../../src/adapters/postgres/database';
import { createPrisma } from '../../../src/adapters/postgres/prisma-client';
import { createPartitionStore } from '../../../src/adapters/postgres/stores/partition-store';
import { createGeneration } from '../../../src/flow/create/create-generation';
import { runSchedulePass } from '../../../src/flow/schedule/run-scheduler';
import { readConfig } from '../../../src/runtime/config';
import { createContainer, type Container } from '../../../src/runtime/container';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { addTenant, MODEL, seedCatalog } from '../../support/flow/seed-catalog';
import { describeIfAvailable } from '../../support/requirements';

const GENERATIONS = 6;
const POOLER = { AIVEDIO_DATABASE_POOLER: 'transaction' };

describeIfAvailable('pgbouncer', 'the product behind a PgBouncer in transaction mode', () => {
  let dir: string;
  let database: TestDatabase;
  let bouncer: Pgbouncer;
  let container: Container | null = null;

  beforeAll(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'aivedio-pgbouncer-flow-'));
    await chmod(dir, 0o755);
    database = await createTestDatabase();
    // Fewer sessions than connections: statements of one connection meet sessions of others.
    bouncer = await startPgbouncer({ dir, databaseUrl: database.url, poolSize: 2 });
  }, 60_000);

  afterEach(async () => {
    await container?.close();
    container = null;
  });

  afterAll(async () => {
    const seen = await bouncer.transactionsSeen();
    process.stdout.write(`PgBouncer saw ${seen} transactions\n`);
    await bouncer.stop();
    await database.drop();
    await rm(dir, { recursive: true, force: true });
    expect(seen).toBeGreaterThan(GENERATIONS);
  }, 60_000);

  const open = (changes: Readonly<Record<string, string>>): Container => {
    container = createContainer(
      readConfig({
        AIVEDIO_DATABASE_URL: bouncer.url,
        AIVEDIO_DATABASE_DIRECT_URL: database.url,
        AIVEDIO_DATA_DIR: dir,
        AIVEDIO_SIGNING_SECRET: 'A'.repeat(43),
        AIVEDIO_LOG_LEVEL: 'error',
        AIVEDIO_POOL_MAX: '6',
        ...changes,
      }),
      'scheduler',
    );
    return container;
  };

  it('creates and dispatches', async () => {
    const { context, schedule, moderation, health } = open(POOLER);
    const now = context.clock.now();
    await createPartitionStore(database.pool).ensureDays(now, 2);
    await seedCatalog(
      database.pool,
      { sandboxUrl: 'http://127.0.0.1:1', accountConcurrentMax: 10, undecidablePolicy: 'EXPIRE' },
      now,
    );
    const tenantId = await addTenant(database.pool, context);
    const created = await Promise.all(
      Array.from({ length: GENERATIONS }, (_, index) =>
        createGeneration(context, moderation, {
          ...{ tenantId, projectId: null, apiKeyId: null, quoteId: null, maxMicros: null },
          idempotencyKey: `key-${index}`,
          request: { model: MODEL, prompt: 'waves', durationMs: 2_000, resolution: '480p' },
          traceId: `trace-${index}`,
        }),
      ),
    );
    expect(created.map(({ kind }) => kind)).toEqual(Array<string>(GENERATIONS).fill('CREATED'));
    await runSchedulePass(context, schedule, GENERATIONS);
    for (const outcome of created) {
      if (outcome.kind !== 'CREATED') continue;
      const task = await context.uow.stores.tasks.read(outcome.task.id);
      const attempts = await context.uow.stores.attempts.listOfTask(outcome.task.id);
      expect([task?.status, attempts.length]).toEqual(['DISPATCHING', 1]);
    }
    expect(await health.read()).toMatchObject({ status: 'ready' });
    const prisma = createPrisma({ connectionString: bouncer.url, max: 3 });
    const counts = await Promise.all(
      Array.from({ length: 6 }, () => prisma.generation_tasks.count()),
    );
    await prisma.$disconnect();
    expect(new Set(counts)).toEqual(new Set([GENERATIONS]));
  }, 60_000);

  it('keeps its limits with each transaction, and leaves none behind', async () => {
    const pool = createPool({
      ...{ connectionString: bouncer.url, max: 2, applicationName: 'limits' },
      ...{ behindPooler: true, synchronousCommit: 'off', connectionTimeoutMs: 5_000 },
      ...{ statementTimeoutMs: 300, lockTimeoutMs: 200, idleInTransactionTimeoutMs: 7_000 },
    });
    const names = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
    const ask = {
      text: `SELECT ${[...names, 'synchronous_commit', 'TimeZone'].map((name) => `current_setting('${name}')`).join()}`,
      rowMode: 'array' as const,
    };
    try {
      const { rows } = await poolDatabase(pool).execute({ ...ask, name: 'settings' });
      expect(rows).toEqual([['300ms', '200ms', '7s', 'off', 'UTC']]);
      await expect(
        poolDatabase(pool).execute({ text: 'SELECT pg_sleep(20)', rowMode: 'array' }),
      ).rejects.toMatchObject({ code: '57014' });
      const bare = (await pool.query<string[]>(ask)).rows[0];
      expect(bare?.[0]).not.toBe('300ms');
      expect(bare?.[3]).toBe('on');
    } finally {
      await pool.end();
    }
  }, 30_000);

  it('is refused without the setting, and the setting without the address of the server', async () => {
    const { parts } = await open({ AIVEDIO_DATABASE_POOLER: 'none' }).health.read();
    expect(parts.find(({ name }) => name === 'database')).toMatchObject({
      ok: false,
      detail: expect.stringContaining('unsupported startup parameter') as string,
    });
    expect(() => readConfig({ AIVEDIO_DATABASE_URL: bouncer.url, ...POOLER })).toThrow(
      /AIVEDIO_DATABASE_DIRECT_URL/,
    );
  });
});
