import { createPool } from '../../../src/adapters/postgres/pool';
import { createUnitOfWork } from '../../../src/adapters/postgres/unit-of-work';
import type { Step } from '../../../src/domain/generation/decision';
import type { TaskPatch } from '../../../src/domain/generation/evolve';
import type { Task } from '../../../src/domain/generation/task';
import type { Log } from '../../../src/ports/log';
import type { OutboxMessage } from '../../../src/ports/messages';
import type { NewAttempt } from '../../../src/ports/stores/attempt-store';
import type { EventOrigin, NewTask } from '../../../src/ports/stores/task-store';
import type { Stores, UnitOfWork } from '../../../src/ports/unit-of-work';
import { createTestDatabase, type TestDatabase } from '../../support/database';

/** The instant at which these tests play. */
export const NOW = new Date('2026-12-01T10:00:00.000Z');
export const at = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1000);

let lastId = 0;
/** A UUIDv7 of `time`; the next one is greater. */
export const newId = (time: Date = NOW): string => {
  lastId += 1;
  const stamp = time.getTime().toString(16).padStart(12, '0');
  const serial = lastId.toString(16).padStart(12, '0');
  return `${stamp.slice(0, 8)}-${stamp.slice(8)}-7000-8000-${serial}`;
};

const nothing = (): void => undefined;
export const SILENT_LOG: Log = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: () => SILENT_LOG,
};

export interface StoreBench {
  readonly database: TestDatabase;
  readonly pool: ReturnType<typeof createPool>;
  readonly uow: UnitOfWork;
  readonly stores: Stores;
  /** Channels that rang, in order. */
  readonly rings: string[];
  /** Rows of any query, for the test's own look. */
  look(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
}

const openBench = async (max: number): Promise<StoreBench> => {
  const database = await createTestDatabase();
  const pool = createPool({
    connectionString: database.url,
    max,
    applicationName: 'store-test',
    connectionTimeoutMs: 20_000,
    statementTimeoutMs: 20_000,
    idleInTransactionTimeoutMs: 20_000,
  });
  const rings: string[] = [];
  const bell = { ring: (channel: string): void => void rings.push(channel) };
  const uow = createUnitOfWork({ pool, bell, log: SILENT_LOG });
  const look = async (sql: string, values: readonly unknown[] = []) =>
    (await database.pool.query<Record<string, unknown>>(sql, [...values])).rows;
  return { database, pool, uow, stores: uow.stores, rings, look };
};

/** Gives each test a database of its own with the stores over it; `check` has a last look at it. */
export const useStores = (max = 4, check?: () => Promise<void>): (() => StoreBench) => {
  let bench: StoreBench | undefined;
  beforeEach(async () => {
    bench = await openBench(max);
  });
  afterEach(async () => {
    await (check?.() ?? Promise.resolve()).finally(close);
  });
  const close = async (): Promise<void> => {
    if (bench?.pool.ending === false) await bench.pool.end();
    const finished = bench;
    bench = undefined;
    await finished?.database.drop();
  };
  return () => {
    if (bench === undefined) throw new Error('There are stores only inside a test.');
    return bench;
  };
};

/** A tenant, with `credits` micro-credits when given. */
export const addTenant = async (bench: StoreBench, credits = 0n): Promise<string> => {
  const tenantId = newId();
  await bench.database.pool.query(
    `INSERT INTO tenants (id, name, tier, status, in_flight_max, queued_max, upload_bytes_max, retention_days,
       charged_failure_bearer, created_at)
     VALUES ($1, 'Tenant', 'STANDARD', 'ACTIVE', 10, 100, 1000000, 30, 'PLATFORM', $2)`,
    [tenantId, NOW],
  );
  if (credits > 0n) {
    await bench.stores.money.grant({
      tenantId,
      amountMicros: credits,
      businessKey: `grant:${tenantId}`,
      reason: 'START',
      actor: 'test',
      entryId: newId(),
      now: NOW,
    });
  }
  return tenantId;
};

const PATH_TO_QUEUED = [
  { event: 'created', to: 'CREATED' },
  { event: 'validation_started', to: 'VALIDATING' },
  { event: 'validation_passed', to: 'QUOTA_RESERVED' },
  { event: 'queued', to: 'QUEUED' },
] as const;

export const newTask = (tenantId: string, changes: Partial<NewTask> = {}): NewTask => {
  const id = newId();
  return {
    id,
    tenantId,
    projectId: null,
    apiKeyId: null,
    clientIdempotencyKey: `key-${id}`,
    requestHash: 'hash',
    quoteId: null,
    requestedModel: 'model-1',
    priority: 0,
    priceMicros: 5_000_000n,
    reservedMicros: 5_000_000n,
    deadlineAt: at(3600),
    traceId: 'trace-1',
    request: {
      model: 'model-1',
      prompt: 'A lighthouse in the rain',
      negativePrompt: null,
      seed: 7,
      aspectRatio: '16:9',
      resolution: '720p',
      durationMs: 4000,
      withAudio: true,
      imageAssetId: null,
      providerOptions: {},
    },
    inputs: [],
    path: PATH_TO_QUEUED.map((step) => ({ ...step, eventId: newId() })),
    ...changes,
  };
};

export const addTask = async (
  bench: StoreBench,
  tenantId: string,
  changes: Partial<NewTask> = {},
  now: Date = NOW,
): Promise<Task> => {
  const task = newTask(tenantId, changes);
  await bench.stores.tasks.insert(task, [], now);
  return mustRead(bench.stores, task.id);
};

export const mustRead = async (stores: Stores, taskId: string): Promise<Task> => {
  const task = await stores.tasks.read(taskId);
  if (task === null) throw new Error(`No generation ${taskId}`);
  return task;
};

export const ORIGIN: EventOrigin = {
  source: 'worker',
  sourceEventId: null,
  attemptId: null,
  providerUpdatedAt: null,
  payload: null,
};

export const statusChanged = (taskId: string, availableAt: Date = NOW): OutboxMessage => ({
  eventId: newId(),
  type: 'task.status.changed',
  payload: { taskId, version: 1, status: 'QUEUED', terminal: false },
  availableAt,
});

/** One move that must succeed. */
export const moveTask = async (
  stores: Stores,
  task: Task,
  step: Step,
  patch: TaskPatch = {},
  now: Date = NOW,
): Promise<Task> => {
  const moved = await stores.tasks.move({
    task,
    step,
    patch,
    eventId: newId(now),
    origin: ORIGIN,
    messages: [],
    now,
  });
  if (moved === null) throw new Error(`The guard refused ${task.status} → ${step.to}`);
  return moved;
};

export const newAttempt = (task: Task, changes: Partial<NewAttempt> = {}): NewAttempt => {
  const id = newId();
  return {
    id,
    tenantId: task.tenantId,
    taskId: task.id,
    attemptNo: 1,
    providerId: 'sandbox',
    accountId: 'sandbox-1',
    model: 'model-1',
    requestKey: `request-${id}`,
    callbackUrl: 'http://127.0.0.1/callback',
    sent: {
      endpoint: 'http://127.0.0.1/v1/jobs',
      prompt: 'A lighthouse in the rain',
      negativePrompt: null,
      seed: 7,
      aspectRatio: '16:9',
      resolution: '720p',
      durationMs: 4000,
      withAudio: true,
      imageAssetId: null,
      imageSha256: null,
      priceMicros: '5000000',
      costPerSecond: '0.05',
      costCurrency: 'USD',
      options: {},
    },
    slotToken: 9_007_199_254_740_993n,
    ...changes,
  };
};
