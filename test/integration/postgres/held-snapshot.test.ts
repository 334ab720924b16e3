import { Client, type Pool, type PoolClient, type QueryConfig } from 'pg';
import { uuidv7 } from 'uuidv7';

import { createDueLook } from '../../../src/adapters/postgres/bus/due-look';
import { createLookBounds } from '../../../src/adapters/postgres/bus/look-bounds';
import { createPostgresOutboxMover } from '../../../src/adapters/postgres/bus/outbox-mover';
import { createPostgresBus } from '../../../src/adapters/postgres/bus/postgres-bus';
import { poolDatabase } from '../../../src/adapters/postgres/database';
import { run } from '../../../src/adapters/postgres/run-statement';
import { createPostgresSlots } from '../../../src/adapters/postgres/slots/postgres-slots';
import { makeQueuedMessages } from '../../contract/message-bus/make-messages';
import { openRebuildablePool } from '../../contract/open-rebuildable-pool';
import { createRecordingLog } from '../../contract/recording-log';
import { acquireToken, newHolder, NOW, TTL_MS } from '../../contract/slots/slots-harness';
import { createTestDatabase, type TestDatabase } from '../../support/database';

jest.setTimeout(120_000);

/**
 * While somebody holds a snapshot, no dead version of any row can be cleaned away. What is taken from a queue, and what is changed all
 * the time, must be found without reading what was there before.
 */
let database: TestDatabase;
let pool: Pool;
let holder: Client;
/** Pages that each statement touched since the last look, the same page as often as it was touched. */
let touched: Map<string, number> | null = null;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = openRebuildablePool(database.url, 'held');
  pool.on('connect', countPages);
  holder = new Client({ connectionString: database.url });
  await holder.connect();
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await holder.query('SELECT pg_current_xact_id(), count(*) FROM tenants');
});
afterAll(async () => {
  await holder.end();
  await pool.end();
  await database.drop();
});

/** Explains each statement, and undoes what that did, before it runs. */
const countPages = (client: PoolClient): void => {
  const query = client.query.bind(client) as (config: unknown) => Promise<{ rows: unknown[][] }>;
  const counting = async (config: unknown): Promise<unknown> => {
    if (touched !== null && isStatement(config)) {
      const { name, text, values } = config;
      const given = (values ?? []).map((value) => literalOf(client, value)).join(', ');
      await query('BEGIN');
      // The plan that a connection has after a while, which knows no values.
      await query('SET LOCAL plan_cache_mode = force_generic_plan');
      await query(`PREPARE explained AS ${text}`);
      const { rows } = await query({
        text: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE explained${given === '' ? '' : `(${given})`}`,
        rowMode: 'array',
      });
      await query('DEALLOCATE explained');
      await query('ROLLBACK');
      const [{ Plan: plan }] = rows[0]?.[0] as [{ Plan: Record<string, number> }];
      const pages = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
      touched.set(name, pages);
    }
    return query(config);
  };
  client.query = counting as typeof client.query;
};

const literalOf = (client: PoolClient, value: unknown): string => {
  if (value === null) return 'NULL';
  if (!Array.isArray(value)) return client.escapeLiteral(textOf(value));
  return client.escapeLiteral(`{${value.map((each) => JSON.stringify(textOf(each))).join(',')}}`);
};

const textOf = (value: unknown): string =>
  value instanceof Date ? value.toISOString() : String(value);

const isStatement = (config: unknown): config is QueryConfig & { readonly name: string } =>
  typeof config === 'object' && config !== null && 'name' in config;

const pagesTouchedBy = async (work: () => Promise<unknown>): Promise<Record<string, number>> => {
  // As autovacuum does it: plans are made with what the tables have become.
  await database.pool.query('VACUUM ANALYZE bus_messages, outbox_events, slot_scopes, slot_leases');
  touched = new Map();
  try {
    await work();
    return Object.fromEntries(touched);
  } finally {
    touched = null;
  }
};

const ROUNDS = 60;
const BATCH = 20;
/** A round a second: those of the last two seconds are looked at again. */
const at = (round: number): Date => new Date(NOW.getTime() + round * 1_000);
const expectFew = (pages: Record<string, number>, most: Record<string, number>): void => {
  const tooMany = Object.entries(most).filter(
    ([statement, limit]) => !((pages[statement] ?? Infinity) <= limit),
  );
  // Of a failure both are shown: what was touched, and what it may be.
  expect({ pages, tooMany }).toEqual({ pages, tooMany: [] });
};

it('takes from bus and outbox without reading what was taken before', async () => {
  const looks = createLookBounds();
  const bus = createPostgresBus({ pool, log: createRecordingLog(), deliveriesMax: 5, looks });
  const mover = createPostgresOutboxMover({ pool, looks });
  const dueLook = createDueLook(pool, looks);
  const insert = async (now: Date): Promise<void> => {
    await database.pool.query(
      `INSERT INTO outbox_events (id, aggregate_type, aggregate_id, aggregate_version, type, schema_version, trace_id, payload,
         status, available_at, occurred_at)
       SELECT (e ->> 'eventId')::uuid, 'generation', (e ->> 'aggregateId')::uuid, 1, e ->> 'eventType', 1, e ->> 'traceId',
         e -> 'payload', 'PENDING', $2, $2
       FROM jsonb_array_elements($1::jsonb) AS e`,
      [JSON.stringify(makeQueuedMessages(BATCH, now).map(({ envelope }) => envelope)), now],
    );
  };
  const takeAll = async (now: Date): Promise<void> => {
    await insert(now);
    expect(await mover.moveBatch(now, 100)).toBe(BATCH);
    const deliveries = await bus.receive('scheduler', { max: 100, leaseMs: 30_000, now });
    expect(deliveries).toHaveLength(BATCH);
    await bus.acknowledge('scheduler', deliveries);
  };
  for (let round = 1; round <= ROUNDS; round += 1) await takeAll(at(round));
  const pages = await pagesTouchedBy(async () => {
    await mover.moveBatch(at(ROUNDS), 100);
    await bus.receive('scheduler', { max: 100, leaseMs: 30_000, now: at(ROUNDS) });
    await dueLook({ outbox: true, polls: true, waiting: true, groups: ['scheduler'] }, at(ROUNDS));
    await bus.nextDueAt('scheduler');
    await mover.nextDueAt();
  });
  // Leases that ended early stand 30 s ahead, and `next` passes those of as many rounds.
  expectFew(pages, {
    'move-outbox-events-if-due': 20,
    'lease-bus-messages-if-due': 50,
    'find-next-outbox-event-due': 20,
    'find-next-bus-message-due': 150,
    'find-what-is-due': 150,
  });
});

it('finds what comes later than any look expects, with a look from the beginning or when another look has found it', async () => {
  const looks = createLookBounds();
  const bus = createPostgresBus({ pool, log: createRecordingLog(), deliveriesMax: 5, looks });
  const receive = (ms: number) =>
    bus.receive('reducer', { max: 10, leaseMs: 30_000, now: new Date(NOW.getTime() + ms) });
  const publishLate = async (): Promise<string> => {
    const eventId = uuidv7();
    await database.pool.query(
      `INSERT INTO bus_messages (consumer_group, event_id, type, envelope, status, available_at, created_at)
       VALUES ('reducer', $1, 'generation.queued', $2, 'READY', $3, $3)`,
      [
        eventId,
        { ...makeQueuedMessages(1, NOW)[0]?.envelope, eventId },
        new Date(NOW.getTime() - 60_000),
      ],
    );
    return eventId;
  };
  await receive(0);
  const first = await publishLate();
  expect(await receive(1_000)).toEqual([]);
  expect((await receive(5_000)).map(({ envelope }) => envelope.eventId)).toEqual([first]);

  const second = await publishLate();
  expect(await receive(6_000)).toEqual([]);
  const taken = { outbox: false, polls: false, waiting: false, groups: ['reducer'] as const };
  // Nobody has received for a while: the look of the process begins at the beginning.
  const [row] = (await createDueLook(pool, looks)(taken, new Date(NOW.getTime() + 10_000))).filter(
    ({ source }) => source === 'GROUP',
  );
  expect(row?.at).toEqual(new Date(NOW.getTime() - 60_000));
  expect((await receive(6_001)).map(({ envelope }) => envelope.eventId)).toEqual([second]);
});

it('finds unmatched events of a job without reading those that were matched', async () => {
  await database.pool.query(
    `INSERT INTO provider_events (id, provider_id, account_id, source, source_event_id, job_id, request_key, status, raw_status,
       observation, raw_digest, received_at)
     SELECT gen_random_uuid(), 'p', 'a', 'CALLBACK', 'e' || n, 'job' || n, 'key' || n, 'RUNNING', 'running', '{}', 'd', $1
     FROM generate_series(1, 2000) AS n`,
    [NOW],
  );
  await database.pool.query(
    'UPDATE provider_events SET attempt_id = gen_random_uuid(), matched_at = $1 WHERE job_id <> $2',
    [NOW, 'job7'],
  );
  const db = poolDatabase(pool);
  const orphans = (jobId: string, requestKey: string) =>
    run<{ jobId: string }>(db, 'list-orphans-of-attempt', { providerId: 'p', jobId, requestKey });
  expect((await orphans('job7', 'other')).map(({ jobId }) => jobId)).toEqual(['job7']);
  expect((await orphans('other', 'key7')).map(({ jobId }) => jobId)).toEqual(['job7']);
  expect(await orphans('job8', 'key8')).toEqual([]);
  const pages = await pagesTouchedBy(() => orphans('job7', 'key7'));
  expectFew(pages, { 'list-orphans-of-attempt': 20 });
});

it('counts slots without reading what was counted before', async () => {
  const slots = createPostgresSlots({ pool });
  const scopes = [
    { scope: 'platform', limitMax: 10 },
    { scope: 'account:1', limitMax: 10 },
  ];
  for (let n = 0; n < 600; n += 1) {
    const id = newHolder();
    await slots.release(id, await acquireToken(slots, id, scopes), NOW);
  }
  const pages = await pagesTouchedBy(async () => {
    const id = newHolder();
    const granted = await slots.acquire(id, scopes, TTL_MS, NOW);
    if (granted.kind !== 'ACQUIRED') throw new Error('there was a slot');
    await slots.release(id, granted.token, NOW);
    expect(await slots.usage(['platform', 'account:1'])).toEqual({ platform: 0, 'account:1': 0 });
  });
  expectFew(pages, {
    'acquire-slots-if-free': 40,
    'release-slot-lease-if-held': 40,
    'list-slot-scopes-in-use': 12,
  });
});
