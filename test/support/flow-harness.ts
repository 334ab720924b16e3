import { createPartitionStore } from '../../src/adapters/postgres/stores/partition-store';
import { pollDueAttempts } from '../../src/flow/observe/poll-attempts';
import { cancelGeneration, type CancelOutcome } from '../../src/flow/create/cancel-generation';
import { createGeneration, type CreateOutcome } from '../../src/flow/create/create-generation';
import { runSchedulePass } from '../../src/flow/schedule/run-scheduler';
import type { Attempt } from '../../src/domain/attempt/attempt';
import type { RequestInput } from '../../src/domain/generation/normalize';
import type { Task } from '../../src/domain/generation/task';
import { armCrashPoints, type CrashPoint } from '../../src/ports/crash-points';
import type { Balance } from '../../src/ports/stores/money-store';
import { startCallbackReceiver, type CallbackReceiver } from './callback-receiver';
import { createTestDatabase, type TestDatabase } from './database';
import { eventually } from './eventually';
import { checkFlow } from './flow/check-flow';
import { createHandlers, type Handlers } from './flow/flow-consumers';
import { createFlowParts, type FlowParts, type PartsOptions } from './flow/flow-parts';
import { holdCallbacks, type HeldCallbacks } from './flow/held-callbacks';
import { createMessageDriver, SimulatedCrash, type MessageDriver } from './flow/message-driver';
import { startObjectServer, type ObjectServer } from './flow/object-server';
import {
  addTenant,
  MODEL,
  seedCatalog,
  type CatalogSeed,
  type TenantSeed,
} from './flow/seed-catalog';
import { createSettableClock } from './flow/settable-clock';
import { startSandbox, type SandboxJob, type SandboxProcess } from './sandbox-process';

export type FlowOptions = Pick<
  PartsOptions,
  'settings' | 'moderation' | 'toolkit' | 'ledgerWaitMs'
> &
  Partial<Omit<CatalogSeed, 'sandboxUrl'>> & { readonly tenant?: Partial<TenantSeed> };

/** The real use cases on a database of the test's own, with a provider that is a process of its own. */
export interface Flow extends FlowParts, MessageDriver {
  readonly handlers: Handlers;
  readonly database: TestDatabase;
  readonly sandbox: SandboxProcess;
  readonly objectServer: ObjectServer;
  readonly callbacks: HeldCallbacks;
  readonly tenantId: string;
  addTenant(changes?: Partial<TenantSeed>): Promise<string>;
  /** `fault` is the sandbox's, with its parameters beside it. */
  tryCreate(changes?: CreateChanges): Promise<CreateOutcome>;
  create(changes?: CreateChanges): Promise<Task>;
  cancel(taskId: string, tenantId?: string): Promise<CancelOutcome>;
  task(taskId: string): Promise<Task>;
  attempts(taskId: string): Promise<Attempt[]>;
  /** The newest one; throws when there is none. */
  attempt(taskId: string): Promise<Attempt>;
  balance(tenantId?: string): Promise<Balance>;
  /** One pass of the scheduler over the queue. */
  runPass(): Promise<{ dispatched: number; waiting: number }>;
  /** Moves the clock to where polls are due, and polls once. */
  poll(): Promise<number>;
  /** Create, relay, schedule and submit: until the provider's answer is stored. */
  submit(changes?: CreateChanges): Promise<Task>;
  /** Waits until the provider's own log has the task's job in one of `statuses` (the ends by default). */
  jobReached(taskId: string, ...statuses: string[]): Promise<SandboxJob>;
  /** Waits for the job's end, polls, and reduces what was seen. */
  finishJob(taskId: string): Promise<Task>;
  jobs(taskId: string): Promise<SandboxJob[]>;
  look(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  /** Kinds of the ledger's entries of a task, in order. */
  ledger(taskId: string): Promise<{ kind: string; amount: bigint; reason: string }[]>;
  findings(): Promise<string[]>;
  /** Types of the task's history that moved it, and `!reason` for what was ignored. */
  history(taskId: string): Promise<string[]>;
  /** Dies at the next reach of the point, until `disarm`; a crash rejects with SimulatedCrash. */
  crashAt(point: CrashPoint): void;
  disarm(): void;
}

export interface CreateChanges {
  readonly key?: string;
  readonly tenantId?: string;
  readonly fault?: string | readonly string[];
  readonly faultParams?: Readonly<Record<string, unknown>>;
  readonly request?: Partial<RequestInput>;
  readonly maxMicros?: bigint | null;
  readonly quoteId?: string | null;
}

/** What follows the submit: these wait for the test's word. */
const DOWNSTREAM = [
  'reducer',
  'output-fetch',
  'media',
  'reconciler',
  'notification',
  'billing',
] as const;

const ENDS = ['succeeded', 'failed', 'canceled'];

// A loaded machine renders and encodes slowly; what a test waits for has deadlines of its own.
jest.setTimeout(90_000);

let opened = 0;

/**
 * One sandbox for the file, and for each test a fresh database, object store, clock and seed. `open` may be called with
 * options; without it the test gets the defaults at its first use. After each test the invariants are checked.
 */
export const useFlow = (): ((options?: FlowOptions) => Promise<Flow>) => {
  let sandbox: SandboxProcess | undefined;
  let receiver: CallbackReceiver | undefined;
  let open: { flow: Flow; close: () => Promise<void> } | undefined;
  beforeAll(async () => {
    [sandbox, receiver] = await Promise.all([
      startSandbox({ render: 'instant', concurrency: 200 }),
      startCallbackReceiver(),
    ]);
  }, 60_000);
  afterAll(async () => {
    await sandbox?.stop();
    await receiver?.close();
  });
  afterEach(async () => {
    const finished = open;
    open = undefined;
    if (finished === undefined) return;
    finished.flow.disarm();
    try {
      await checkFlow(finished.flow.pool, finished.flow.sandbox);
    } finally {
      await finished.close();
    }
  }, 30_000);
  return async (options = {}) => {
    if (sandbox === undefined || receiver === undefined)
      throw new Error('There is a flow only inside a test.');
    open ??= await openFlow(sandbox, receiver, options);
    return open.flow;
  };
};

/** As `useFlow` opens it, for a file that has a life of its own for it. */
export const openFlow = async (
  sandbox: SandboxProcess,
  receiver: CallbackReceiver,
  options: FlowOptions,
): Promise<{ flow: Flow; close: () => Promise<void> }> => {
  opened += 1;
  const clock = createSettableClock();
  const [database, objectServer] = await Promise.all([
    createTestDatabase(),
    startObjectServer(clock),
  ]);
  const parts = await createFlowParts({
    ...options,
    databaseUrl: database.url,
    sandbox,
    callbackUrl: receiver.url,
    objects: objectServer,
    clock,
    seed: `flow-${process.pid}-${opened}`,
  });
  const now = clock.now();
  await createPartitionStore(parts.pool).ensureDays(now, 4);
  await seedCatalog(
    parts.pool,
    {
      sandboxUrl: sandbox.url,
      accountConcurrentMax: options.accountConcurrentMax ?? 100,
      undecidablePolicy: options.undecidablePolicy ?? 'EXPIRE',
    },
    now,
  );
  const tenantId = await addTenant(parts.pool, parts.context, options.tenant);
  const flow = assemble({ parts, database, objectServer, sandbox, receiver, tenantId });
  const close = async (): Promise<void> => {
    await parts.close();
    await objectServer.close();
    await database.drop();
  };
  return { flow, close };
};

interface Assembly {
  readonly parts: FlowParts;
  readonly database: TestDatabase;
  readonly objectServer: ObjectServer;
  readonly sandbox: SandboxProcess;
  readonly receiver: CallbackReceiver;
  readonly tenantId: string;
}

const assemble = (assembly: Assembly): Flow => {
  const { parts, sandbox, tenantId } = assembly;
  const handlers = createHandlers(parts);
  const driver = createMessageDriver(parts, handlers);
  const witness = createWitness(assembly);
  const commands = createCommands(assembly, driver, witness);
  return {
    ...parts,
    ...driver,
    ...witness,
    ...commands,
    handlers,
    database: assembly.database,
    objectServer: assembly.objectServer,
    sandbox,
    tenantId,
    callbacks: holdCallbacks(assembly.receiver, parts),
    addTenant: (changes) => addTenant(parts.pool, parts.context, changes),
    crashAt: (point) =>
      armCrashPoints((reached) => {
        if (reached === point) throw new SimulatedCrash(point);
      }),
    disarm: () => armCrashPoints(() => undefined),
  };
};

type Witness = Pick<
  Flow,
  'task' | 'attempts' | 'attempt' | 'balance' | 'jobs' | 'look' | 'ledger' | 'findings' | 'history'
>;

const createWitness = ({ parts, sandbox, tenantId }: Assembly): Witness => {
  const { stores } = parts.context.uow;
  const look: Flow['look'] = async (sql, values = []) =>
    (await parts.pool.query<Record<string, unknown>>(sql, [...values])).rows;
  const attempts = (taskId: string): Promise<Attempt[]> => stores.attempts.listOfTask(taskId);
  return {
    look,
    attempts,
    task: async (taskId) => {
      const task = await stores.tasks.read(taskId);
      if (task === null) throw new Error(`no generation ${taskId}`);
      return task;
    },
    attempt: async (taskId) => {
      const newest = (await attempts(taskId)).at(-1);
      if (newest === undefined) throw new Error(`generation ${taskId} has no attempt`);
      return newest;
    },
    balance: async (of = tenantId) => {
      const balance = await stores.money.readBalance(of);
      if (balance === null) throw new Error(`tenant ${of} has no account`);
      return balance;
    },
    jobs: async (taskId) => {
      const keys = (await attempts(taskId)).map((attempt) => attempt.requestKey);
      return (await sandbox.jobs()).filter((job) => keys.includes(job.request.reference ?? ''));
    },
    ledger: async (taskId) =>
      (
        await look(
          'SELECT kind, amount_micros, reason FROM credit_ledger WHERE task_id = $1 ORDER BY created_at, id',
          [taskId],
        )
      ).map((row) => ({
        kind: String(row['kind']),
        amount: BigInt(String(row['amount_micros'])),
        reason: String(row['reason']),
      })),
    findings: async () =>
      (await look('SELECT kind FROM findings ORDER BY kind')).map((row) => String(row['kind'])),
    history: async (taskId) =>
      (
        await look(
          `SELECT coalesce('!' || ignored_reason, type) AS word FROM task_state_events WHERE task_id = $1
           ORDER BY observed_at, task_version, event_id`,
          [taskId],
        )
      ).map((row) => String(row['word'])),
  };
};

type Commands = Pick<
  Flow,
  'tryCreate' | 'create' | 'cancel' | 'runPass' | 'poll' | 'submit' | 'jobReached' | 'finishJob'
>;

const createCommands = (
  { parts, tenantId }: Assembly,
  driver: MessageDriver,
  witness: Witness,
): Commands => {
  const { context, clock } = parts;
  let keys = 0;
  const tryCreate: Flow['tryCreate'] = (changes = {}) => {
    keys += 1;
    return createGeneration(context, parts.moderation, {
      tenantId: changes.tenantId ?? tenantId,
      projectId: null,
      apiKeyId: null,
      idempotencyKey: changes.key ?? `key-${keys}`,
      request: requestOf(changes),
      quoteId: changes.quoteId ?? null,
      maxMicros: changes.maxMicros ?? null,
      traceId: `trace-${keys}`,
    });
  };
  const create: Flow['create'] = async (changes) => {
    const outcome = await tryCreate(changes);
    if (outcome.kind !== 'CREATED') throw new Error(`not created: ${JSON.stringify(outcome.kind)}`);
    return outcome.task;
  };
  const jobReached: Flow['jobReached'] = (taskId, ...statuses) =>
    eventually(
      `a job ${statuses.join(' or ') || 'that has ended'}`,
      async () =>
        (await witness.jobs(taskId)).find((job) =>
          (statuses.length === 0 ? ENDS : statuses).includes(job.status),
        ),
      30_000,
    );
  const poll = (): Promise<number> => {
    clock.advance(context.settings.pollMsMax * 2);
    return pollDueAttempts(context, parts.provider, 100);
  };
  return {
    tryCreate,
    create,
    jobReached,
    poll,
    cancel: (taskId, of = tenantId) =>
      cancelGeneration(context, parts.slots, {
        tenantId: of,
        taskId,
        reason: 'USER',
        actor: 'test',
      }),
    runPass: () => runSchedulePass(context, parts.schedule, 100),
    submit: async (changes) => {
      const task = await create(changes);
      await driver.drain(DOWNSTREAM);
      return witness.task(task.id);
    },
    finishJob: async (taskId) => {
      await jobReached(taskId);
      await poll();
      await driver.relay();
      await driver.deliver('reducer');
      return witness.task(taskId);
    },
  };
};

const requestOf = (changes: CreateChanges): RequestInput => ({
  model: MODEL,
  prompt: 'A lighthouse in the rain',
  seed: 7,
  resolution: '480p',
  durationMs: 2_000,
  providerOptions:
    changes.fault === undefined ? {} : { ...changes.faultParams, fault: changes.fault },
  ...changes.request,
});
