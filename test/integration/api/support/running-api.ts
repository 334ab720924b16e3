import { randomUUID } from 'node:crypto';

import { createClient, type Client } from 'graphql-ws';
import WebSocket from 'ws';

import { createSystemClock } from '../../../../src/adapters/clock/system-clock';
import { createIdSource } from '../../../../src/adapters/ids/uuid-ids';
import { createRuleModeration, DEFAULT_RULES } from '../../../../src/adapters/moderation/rule-set';
import { createPool, createUnitOfWork } from '../../../../src/adapters/postgres';
import { createApiKeys } from '../../../../src/adapters/postgres/api-keys';
import { createPostgresBus } from '../../../../src/adapters/postgres/bus/postgres-bus';
import { createDatabaseHealth } from '../../../../src/adapters/postgres/database-health';
import { createPrisma } from '../../../../src/adapters/postgres/prisma-client';
import { createPostgresPubSub } from '../../../../src/adapters/postgres/pub-sub/postgres-pub-sub';
import { createInvoiceReads, createReadModel } from '../../../../src/adapters/postgres/read-model';
import { createOperatorReads } from '../../../../src/adapters/postgres/read-model/operator-reads';
import { createPostgresSlots } from '../../../../src/adapters/postgres/slots/postgres-slots';
import { createOutboxRelayStore } from '../../../../src/adapters/postgres/stores/outbox-relay-store';
import { watchAdmission } from '../../../../src/flow/create/watch-admission';
import { createPartitionStore } from '../../../../src/adapters/postgres/stores/partition-store';
import { createSandboxGateway } from '../../../../src/adapters/provider/sandbox/gateway';
import type { FlowContext } from '../../../../src/flow/flow-context';
import { API_SCOPES, type ApiKeys, type ApiScope } from '../../../../src/ports/api-keys';
import type { PubSub } from '../../../../src/ports/pub-sub';
import { NO_TRACING, type Tracing } from '../../../../src/ports/tracing';
import type { ReadModel } from '../../../../src/ports/read-model';
import { createPromMetrics } from '../../../../src/adapters/telemetry/prom-metrics';
import { createHealthChecks } from '../../../../src/runtime/health/health-checks';
import { createRateLimits } from '../../../../src/adapters/rate-limits/rate-limits';
import type { RateRules } from '../../../../src/resolvers/rate-gate';
import { createApiServer, type ApiServer } from '../../../../src/resolvers/server';
import { readConfig } from '../../../../src/runtime/config';
import { createRecordingLog } from '../../../contract/recording-log';
import { createTestDatabase, type TestDatabase } from '../../../support/database';
import { startObjectServer, type ObjectServer } from '../../../support/flow/object-server';
import { addTenant, MODEL, seedCatalog, type TenantSeed } from '../../../support/flow/seed-catalog';

// A loaded machine is slow; what a test waits for has deadlines of its own.
jest.setTimeout(60_000);

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /* eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are judged by the tests' expectations */
  readonly data: any;
  readonly errors: readonly {
    readonly message: string;
    readonly extensions: Readonly<Record<string, unknown>>;
  }[];
  readonly text: string;
}

export interface AskOptions {
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The API alone, on a database of the test's own: what the workers do, a test does itself. */
export interface RunningApi {
  readonly url: string;
  readonly server: ApiServer;
  readonly database: TestDatabase;
  readonly context: FlowContext;
  readonly reads: ReadModel;
  readonly apiKeys: ApiKeys;
  readonly pubSub: PubSub;
  readonly objects: ObjectServer;
  readonly log: ReturnType<typeof createRecordingLog>;
  /** What the API has told the scheduler. */
  readonly rings: readonly string[];
  readonly tenantId: string;
  /** A key of the first tenant with every scope. */
  readonly token: string;
  addTenant(changes?: Partial<TenantSeed>): Promise<string>;
  tokenOf(tenantId: string, scopes?: readonly ApiScope[]): Promise<string>;
  ask(query: string, variables?: object, options?: AskOptions): Promise<Answer>;
  post(body: string | Buffer, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  socket(connectionParams?: Readonly<Record<string, unknown>>): Client;
  /** Creates through the API; answers the public id. */
  create(input?: object, options?: AskOptions): Promise<string>;
  count(table: string): Promise<number>;
  close(): Promise<void>;
}

/** No provider listens there. */
const NOWHERE = 'http://127.0.0.1:1';

export const REQUEST = {
  model: MODEL,
  prompt: 'waves on a beach',
  durationMs: 2000,
  resolution: '480p',
};

export const CREATE = `mutation Create($input: GenerationCreateInput!) {
  generationCreate(input: $input) {
    generation { id status version price reserved }
    replayed
    userErrors { message code field }
  }
}`;

const NO_RATE_RULES: RateRules = { requests: null, mutations: null, strangers: null };

export interface ApiOptions {
  readonly tenant?: Partial<TenantSeed>;
  readonly liveReadMs?: number;
  readonly revocationCheckMs?: number;
  readonly production?: boolean;
  readonly createWaitMs?: number;
  /** The age of the outbox from which generations are refused. */
  readonly refuseMs?: number;
  readonly rateRules?: RateRules;
  readonly trustedProxies?: string;
  readonly databaseUrl?: string;
  readonly tracing?: Tracing;
}

export const startApi = async (options: ApiOptions = {}): Promise<RunningApi> => {
  const database = await createTestDatabase();
  const clock = createSystemClock(0);
  const log = createRecordingLog();
  const connectionString = options.databaseUrl ?? database.url;
  const pool = createPool({
    connectionString,
    max: 10,
    applicationName: 'api test',
    connectionTimeoutMs: 20_000,
    statementTimeoutMs: 30_000,
    idleInTransactionTimeoutMs: 30_000,
  });
  const ids = createIdSource();
  const context: FlowContext = {
    uow: createUnitOfWork({ pool, bell: { ring: () => undefined }, log }),
    clock,
    ids,
    log,
    settings: readConfig({}).flow,
    admission: watchAdmission({
      outboxAgeMs: (now) => createOutboxRelayStore(pool).oldestPendingAgeMs(now),
      clock,
      refuseMs: options.refuseMs ?? 3_600_000,
    }),
    random: () => 0.5,
  };
  const prisma = createPrisma({ connectionString, max: 3 });
  const reads = createReadModel(prisma);
  const apiKeys = createApiKeys({ prisma, ids });
  const pubSub = createPostgresPubSub({ connectionString: database.url, log });
  const objects = await startObjectServer(clock);
  const gateway = createSandboxGateway({
    connectTimeoutMs: 2_000,
    tlsTimeoutMs: 2_000,
    headersTimeoutMs: 2_000,
    totalTimeoutMs: 4_000,
    clock,
  });
  const rings: string[] = [];
  const health = createHealthChecks();
  const metrics = createPromMetrics({ process: 'api', onLookFailed: () => undefined });
  health.add({ name: 'database', weight: 'REQUIRED', check: createDatabaseHealth(pool) });
  const server = await createApiServer({
    context,
    provider: {
      gatewayOf: () => gateway,
      accountOf: (id) =>
        Promise.resolve({ id, baseUrl: NOWHERE, apiKey: 'key', webhookSecrets: [] }),
    },
    bus: createPostgresBus({ pool, log, deliveriesMax: 20 }),
    ringScheduler: () => rings.push('scheduler'),
    operatorReads: createOperatorReads(prisma),
    slots: createPostgresSlots({ pool }),
    moderation: createRuleModeration(DEFAULT_RULES),
    objects: objects.store,
    pubSub,
    reads,
    invoices: createInvoiceReads(prisma),
    apiKeys,
    objectRoutes: null,
    log,
    health,
    metrics,
    metricsPage: metrics,
    tracing: options.tracing ?? NO_TRACING,
    rateLimits: createRateLimits({ shared: null, log }),
    rateRules: options.rateRules ?? NO_RATE_RULES,
    trustedProxies: options.trustedProxies ?? null,
    publicUrl: 'http://127.0.0.1',
    production: options.production ?? false,
    revocationCheckMs: options.revocationCheckMs ?? 200,
    ...(options.createWaitMs === undefined ? {} : { createWaitMs: options.createWaitMs }),
    ...(options.liveReadMs === undefined ? {} : { liveReadMs: options.liveReadMs }),
  });
  const url = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}`;
  let isClosed = false;
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    await server.close(1_000);
    await Promise.all([pubSub.close(), prisma.$disconnect(), gateway.close(), objects.close()]);
    await pool.end();
    await database.drop();
  };
  const shared = { url, server, database, context, reads, apiKeys, pubSub, objects };
  const parts = { ...shared, log, rings, close };
  if (options.databaseUrl !== undefined) return withTools({ ...parts, tenantId: '', token: '' });
  const now = clock.now();
  await createPartitionStore(pool).ensureDays(now, 2);
  await seedCatalog(
    database.pool,
    { sandboxUrl: NOWHERE, accountConcurrentMax: 10, undecidablePolicy: 'EXPIRE' },
    now,
  );
  const tenantId = await addTenant(database.pool, context, options.tenant);
  const { token } = await apiKeys.issue({
    tenantId,
    name: 'test',
    scopes: API_SCOPES,
    expiresAt: null,
    now,
  });
  return withTools({ ...parts, tenantId, token });
};

type Parts = Omit<
  RunningApi,
  'addTenant' | 'tokenOf' | 'ask' | 'post' | 'socket' | 'create' | 'count'
>;

const withTools = (parts: Parts): RunningApi => {
  const { url, database, context, apiKeys } = parts;
  const post: RunningApi['post'] = async (body, headers = {}) =>
    readAnswer(
      await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      }),
    );
  const ask: RunningApi['ask'] = (query, variables = {}, { token = parts.token, headers } = {}) =>
    post(JSON.stringify({ query, variables }), {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    });
  return {
    ...parts,
    ask,
    post,
    addTenant: (changes) => addTenant(database.pool, context, changes),
    tokenOf: async (tenantId, scopes = API_SCOPES) => {
      const now = context.clock.now();
      const issued = await apiKeys.issue({ tenantId, name: 'test', scopes, expiresAt: null, now });
      return issued.token;
    },
    socket: (connectionParams = { apiKey: parts.token }) =>
      createClient({
        url: `${url.replace('http', 'ws')}/graphql`,
        webSocketImpl: WebSocket,
        connectionParams: { ...connectionParams },
        retryAttempts: 0,
      }),
    create: async (input = {}, options) => {
      const { data, errors } = await ask(
        CREATE,
        { input: { ...REQUEST, idempotencyKey: randomUUID(), ...input } },
        options,
      );
      const id: unknown = data?.generationCreate.generation?.id;
      if (typeof id === 'string') return id;
      throw new Error(`not created: ${JSON.stringify([data, errors])}`);
    },
    count: async (table) => {
      const { rows } = await database.pool.query<{ count: number }>(
        `SELECT count(*)::integer AS count FROM ${table}`,
      );
      return rows[0]?.count ?? -1;
    },
  };
};

const readAnswer = async (response: Response): Promise<Answer> => {
  const text = await response.text();
  const body = JSON.parse(text) as { data?: unknown; errors?: Answer['errors'] };
  return {
    status: response.status,
    headers: response.headers,
    data: body.data ?? null,
    errors: body.errors ?? [],
    text,
  };
};

/** One API for all tests of a file; each test uses tenants or keys of its own where it matters. */
export const useApi = (options: ApiOptions = {}): (() => RunningApi) => {
  let api: RunningApi | undefined;
  beforeAll(async () => {
    api = await startApi(options);
  }, 30_000);
  afterAll(async () => {
    await api?.close();
  });
  return () => {
    if (api === undefined) throw new Error('There is an API only inside a test.');
    return api;
  };
};

/** APIs that a test starts itself; closed after it, whatever happened. */
export const useOwnApi = (): ((options?: ApiOptions) => Promise<RunningApi>) => {
  const open: RunningApi[] = [];
  afterEach(async () => {
    for (const api of open.splice(0)) await api.close();
  }, 30_000);
  return async (options) => {
    const api = await startApi(options);
    open.push(api);
    return api;
  };
};
