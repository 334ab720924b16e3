import { createHmac, randomInt } from 'node:crypto';
import path from 'node:path';

import { createGuardedFetcher } from '../adapters/fetch-guard/guarded-fetcher';
import { createSystemClock } from '../adapters/clock/system-clock';
import { createIdSource } from '../adapters/ids/uuid-ids';
import { createSignatureScanner } from '../adapters/malware/signature-scanner';
import { createRuleModeration, DEFAULT_RULES } from '../adapters/moderation/rule-set';
import { createPool, createUnitOfWork, type Pool } from '../adapters/postgres';
import { createDatabaseHealth, createMigrationHealth } from '../adapters/postgres/database-health';
import { createPostgresBell } from '../adapters/postgres/bell/postgres-bell';
import { createDueLook } from '../adapters/postgres/bus/due-look';
import { createLookBounds } from '../adapters/postgres/bus/look-bounds';
import { createQueueFigures, QUEUE_FIGURES } from '../adapters/postgres/queue-figures';
import { createInstanceStore } from '../adapters/postgres/stores/instance-store';
import { createOutboxRelayStore } from '../adapters/postgres/stores/outbox-relay-store';
import { createPartitionStore } from '../adapters/postgres/stores/partition-store';
import { rememberCatalog } from '../adapters/postgres/stores/remembered-catalog';
import { createProcessBell } from '../adapters/process-bell/process-bell';
import { channelOf } from '../adapters/process-bell/process-channels';
import { createSandboxGateway } from '../adapters/provider/sandbox/gateway';
import { sweepTempFolders } from '../adapters/scratch/temp-folders';
import { createLog } from '../adapters/telemetry/pino-log';
import { createPromMetrics } from '../adapters/telemetry/prom-metrics';
import { watchAdmission } from '../flow/create/watch-admission';
import type { FlowContext } from '../flow/flow-context';
import type { ScheduleDeps } from '../flow/schedule/dispatch-task';
import type { ProviderDeps } from '../flow/submit/submit-attempt';
import type { Log } from '../ports/log';
import type { Metrics, MetricsPage } from '../ports/metrics';
import type { Bell, HandOver, MessageBus } from '../ports/message-bus';
import type { ProviderAccount, ProviderGateway } from '../ports/provider-gateway';
import type { PubSub } from '../ports/pub-sub';
import type { Slots } from '../ports/slots';
import type { Tracing } from '../ports/tracing';
import type { AccountRow } from '../ports/stores/catalog-store';
import type { OutboxMover } from '../ports/stores/message-store';
import { bells } from './bells';
import { checkAll } from './check-all';
import type { Config } from './config';
import {
  createHealthChecks,
  type HealthChecks,
  type HealthChecksOptions,
} from './health/health-checks';
import { createCircuitHealth } from './health/provider-circuits';
import { createMediaParts, tempDirOf, type MediaParts } from './media-parts';
import { meteredGateway } from './metered-gateway';
import { meteredUnitOfWork } from './metered-unit-of-work';
import { projectRoot } from './project-root';
import { deriveKey, resolveSecrets, type ResolvedSecrets } from './secrets';
import { overhear, wakeHere, type Listeners } from './overhear';
import { wireBus, wireHandOver } from './wire/wire-bus';
import { wireObjects, type WiredObjects } from './wire/wire-objects';
import { wirePubSub } from './wire/wire-pub-sub';
import { wireRedis, type WiredRedis } from './wire/wire-redis';
import { wireSlots } from './wire/wire-slots';
import { wireTracing } from './wire/wire-tracing';

/**
 * Everything a process is made of, wired once. Connections open when they are first used, so a process pays only for what it
 * does; `close` ends them all.
 */
export interface Container {
  readonly config: Config;
  readonly secrets: ResolvedSecrets;
  readonly bootId: string;
  readonly log: Log;
  /** What this process stands on; the wire files add their back ends. */
  readonly health: HealthChecks;
  readonly metrics: Metrics & MetricsPage;
  readonly tracing: Tracing;
  /** Adds the figures of queues to the metrics: of one kind of process, since all would say the same. */
  readonly showQueues: () => void;
  readonly context: FlowContext;
  readonly bell: Bell;
  /** Loops with a bell need no slow look of their own: one look of the process asks for all of them. */
  readonly looksTogether: boolean;
  readonly dueLook: ReturnType<typeof createDueLook>;
  readonly bus: MessageBus;
  /** Used by the consumers of a process with several workers. */
  readonly handOver: HandOver;
  readonly mover: OutboxMover;
  readonly slots: Slots;
  readonly pubSub: PubSub;
  /** Null where there is none. */
  readonly redis: WiredRedis | null;
  readonly objects: WiredObjects['objects'];
  readonly disk: WiredObjects['disk'];
  readonly s3: WiredObjects['s3'];
  readonly schedule: ScheduleDeps;
  readonly provider: ProviderDeps;
  readonly gatewayOrNull: (providerId: string) => ProviderGateway | null;
  readonly accountsOf: (providerId: string) => Promise<readonly ProviderAccount[]>;
  readonly source: ReturnType<typeof createGuardedFetcher>;
  readonly moderation: ReturnType<typeof createRuleModeration>;
  readonly malware: ReturnType<typeof createSignatureScanner>;
  readonly partitions: ReturnType<typeof createPartitionStore>;
  readonly instances: ReturnType<typeof createInstanceStore>;
  /** Finds ffmpeg on first use. */
  readonly media: () => Promise<MediaParts>;
  /** Removes scratch of crashed processes, of the object store and of the tools; answers how many. */
  readonly sweepLeftovers: () => Promise<number>;
  /** Looks at the engines behind the ports before the first work; throws a ConfigError that names each variable. */
  checkAtStart(): Promise<void>;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;
const RING_BURST_MS = 5;
const CATALOG_AGE_MS = 1_000;

export const createContainer = (
  config: Config,
  name: string,
  log: Log = createLog({ level: config.logLevel, name }),
): Container => {
  const secrets = resolveSecrets(config);
  const clock = createSystemClock(config.clockOffsetMs);
  const ids = createIdSource();
  const tracing = wireTracing(config, name);
  const health = createHealthChecks({ onChange: sayHealth(log) });
  const metrics = createPromMetrics({
    process: name,
    onLookFailed: (error) => log.warn('figures could not be looked up', { error: String(error) }),
  });
  metrics.look(['aivedio_part_up'], async () =>
    (await health.read()).parts.map(({ name: label, ok }) => ({
      name: 'aivedio_part_up',
      label,
      value: ok ? 1 : 0,
    })),
  );
  const pool = (max: number, synchronousCommit: 'on' | 'off', suffix: string) =>
    createPool({
      connectionString: secrets.databaseUrl,
      max,
      applicationName: `aivedio ${name}${suffix}`,
      synchronousCommit,
      preferIndexes: synchronousCommit === 'off',
      connectionTimeoutMs: CONNECT_TIMEOUT_MS,
      behindPooler: config.behindPooler,
      ...config.databaseLimits,
    });
  const facts = pool(config.poolMax, 'on', '');
  // Bus, slots and moves can all be rebuilt from the facts: their commits need not wait for the disk.
  const rebuildable = pool(Math.max(2, Math.floor(config.poolMax / 2)), 'off', ' bus');
  addDatabaseHealth(health, facts);
  const heard: Listeners = new Map();
  const bell = overhear(createBell(config, secrets.databaseDirectUrl, log), heard);
  const looks = createLookBounds();
  const handOver = wireHandOver({ config, rebuildable, clock, log });
  const redis = wireRedis({ config, name, log, health });
  const pubSub = wirePubSub({ config, databaseUrl: secrets.databaseDirectUrl, redis, log });
  const { ledgerWaitMs } = config;
  const uow = rememberCatalog(
    meteredUnitOfWork(
      createUnitOfWork({ pool: facts, bell, log, ledgerWaitMs, handOver }),
      metrics,
    ),
    clock,
    CATALOG_AGE_MS,
  );
  const outbox = createOutboxRelayStore(rebuildable);
  const context: FlowContext = {
    uow,
    clock,
    ids,
    log,
    settings: config.flow,
    admission: watchAdmission({
      outboxAgeMs: (now) => outbox.oldestPendingAgeMs(now),
      clock,
      refuseMs: config.relayLagRefuseMs,
    }),
    random: () => randomInt(2 ** 31) / 2 ** 31,
  };
  const slots = wireSlots({ config, context, rebuildable, redis, bell });
  const bootId = ids.next(clock.now());
  const stored = wireObjects({
    config,
    secrets,
    clock,
    ids,
    log,
    health,
  });
  const gateways = createGateways(context, metrics, tracing);
  const gatewayOf = (providerId: string): ProviderGateway => {
    const gateway = gateways.get(providerId);
    if (gateway === undefined) throw new Error(`There is no adapter for provider ${providerId}`);
    return gateway;
  };
  const withSecret = (row: AccountRow): ProviderAccount => accountWithSecret(row, secrets);
  const carried = wireBus({
    ...{ config, facts, rebuildable, looks, handOver, bell, clock, log, health },
    wakeGroup: (group) => wakeHere(heard, bells.group(group)),
  });
  health.add({ name: 'admission', weight: 'INFORMATION', check: context.admission.health });
  health.add({
    name: 'providers',
    weight: 'INFORMATION',
    maxAgeMs: 5_000,
    check: createCircuitHealth(context),
  });
  return {
    config,
    secrets,
    bootId,
    log,
    health,
    metrics,
    tracing,
    showQueues: () => {
      const read = createQueueFigures(rebuildable);
      metrics.look(QUEUE_FIGURES, () => read(clock.now()));
    },
    context,
    bell,
    looksTogether: false,
    dueLook: createDueLook(rebuildable, looks),
    bus: carried.bus,
    handOver,
    mover: carried.mover,
    slots,
    pubSub,
    redis,
    objects: stored.objects,
    disk: stored.disk,
    s3: stored.s3,
    schedule: {
      slots,
      requestKeyOf: (taskId, attemptNo) => requestKeyOf(secrets.signingSecret, taskId, attemptNo),
      requestPass: () => bell.ring(bells.slots),
      callbackUrlOf: (providerId, requestKey) =>
        `${config.callbackUrl}/callbacks/${providerId}/${requestKey}`,
    },
    provider: {
      gatewayOf,
      accountOf: async (accountId) => {
        const row = await uow.stores.catalog.readAccount(accountId);
        if (row === null) throw new Error(`There is no provider account ${accountId}`);
        return withSecret(row);
      },
      objects: stored.providerFacing,
      slots,
      bootId,
    },
    gatewayOrNull: (providerId) => gateways.get(providerId) ?? null,
    accountsOf: async (providerId) =>
      (await uow.stores.catalog.listAccounts())
        .filter((row) => row.providerId === providerId)
        .map(withSecret),
    source: createGuardedFetcher({ clock, insecureLocalHosts: localHosts(config, secrets) }),
    moderation: createRuleModeration(DEFAULT_RULES),
    malware: createSignatureScanner(new Map()),
    partitions: createPartitionStore(facts),
    instances: createInstanceStore(facts),
    media: once(() => createMediaParts(config, log)),
    sweepLeftovers: async () => {
      const olderThan = new Date(clock.now().getTime() - config.leftoverAgeMs);
      return (
        (await stored.sweepTemporary(olderThan)) +
        (await sweepTempFolders(tempDirOf(config), olderThan))
      );
    },
    checkAtStart: () =>
      checkAll([
        ...(redis === null ? [] : [redis.checkAtStart]),
        carried.checkAtStart,
        stored.checkAtStart,
      ]),
    close: async () => {
      await Promise.all([bell.close(), pubSub.close(), carried.close(), stored.close()]);
      await Promise.all([facts.end(), rebuildable.end(), redis?.close()]);
      await tracing.close();
    },
  };
};

const MIGRATIONS_AGE_MS = 30_000;

const addDatabaseHealth = (health: HealthChecks, pool: Pool): void => {
  health.add({ name: 'database', weight: 'REQUIRED', check: createDatabaseHealth(pool) });
  health.add({
    name: 'migrations',
    weight: 'REQUIRED',
    maxAgeMs: MIGRATIONS_AGE_MS,
    check: createMigrationHealth(pool, path.join(projectRoot(), 'prisma', 'migrations')),
  });
};

const sayHealth =
  (log: Log): NonNullable<HealthChecksOptions['onChange']> =>
  ({ name, ok, detail }) =>
    ok
      ? log.info('a part is back', { part: name, detail })
      : log.warn('a part is out of reach', { part: name, detail });

const createGateways = (
  context: FlowContext,
  metrics: Metrics,
  tracing: Tracing,
): ReadonlyMap<string, ProviderGateway> => {
  const sandbox = createSandboxGateway({
    connectTimeoutMs: 3_000,
    tlsTimeoutMs: 3_000,
    headersTimeoutMs: 15_000,
    totalTimeoutMs: 30_000,
    clock: context.clock,
  });
  return new Map([['sandbox', meteredGateway('sandbox', sandbox, metrics, tracing)]]);
};

/** Started by our own program, which carries the rings of all its children; else alone, with only Postgres between. */
const createBell = (config: Config, connectionString: string, log: Log): Bell =>
  config.bell === 'parent'
    ? createProcessBell({ parent: channelOf(process), log, burstIntervalMs: RING_BURST_MS })
    : createPostgresBell({ connectionString, log, burstIntervalMs: RING_BURST_MS });

/** Derives from task and number, so that it can be made again; without the secret it cannot be guessed. */
const requestKeyOf = (signingSecret: string, taskId: string, attemptNo: number): string => {
  const attempt = `${taskId}.${attemptNo}`;
  const mac = createHmac('sha256', deriveKey(signingSecret, 'request-keys')).update(attempt);
  return `${attempt}.${mac.digest('base64url').slice(0, 22)}`;
};

const accountWithSecret = (row: AccountRow, secrets: ResolvedSecrets): ProviderAccount => {
  if (row.secretRef !== 'SANDBOX' || secrets.sandbox === null) {
    throw new Error(`The secret ${row.secretRef} of provider account ${row.id} is not configured`);
  }
  return {
    id: row.id,
    baseUrl: row.baseUrl,
    apiKey: secrets.sandbox.apiKey,
    webhookSecrets: [secrets.sandbox.webhookSecret],
  };
};

/** Plain http on a local address is allowed for the sandbox alone, and never in production. */
const localHosts = (config: Config, secrets: ResolvedSecrets): string[] =>
  config.production || secrets.sandbox === null ? [] : [new URL(secrets.sandbox.url).host];

const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | null = null;
  return () => (made ??= make());
};
