import { createHash } from 'node:crypto';

import type { Pool } from 'pg';

import { createGuardedFetcher } from '../../../src/adapters/fetch-guard/guarded-fetcher';
import { createSeededIdSource } from '../../../src/adapters/ids/uuid-ids';
import { createSignatureScanner } from '../../../src/adapters/malware/signature-scanner';
import { createMediaToolkit } from '../../../src/adapters/media/media-toolkit';
import { createRuleModeration, DEFAULT_RULES } from '../../../src/adapters/moderation/rule-set';
import { createPool, createUnitOfWork } from '../../../src/adapters/postgres';
import { createPostgresOutboxMover } from '../../../src/adapters/postgres/bus/outbox-mover';
import { createPostgresBus } from '../../../src/adapters/postgres/bus/postgres-bus';
import { createPostgresPubSub } from '../../../src/adapters/postgres/pub-sub/postgres-pub-sub';
import { createPostgresSlots } from '../../../src/adapters/postgres/slots/postgres-slots';
import { createSandboxGateway } from '../../../src/adapters/provider/sandbox/gateway';
import { createTempFolders } from '../../../src/adapters/scratch/temp-folders';
import { watchAdmission } from '../../../src/flow/create/watch-admission';
import type { FlowContext, FlowSettings } from '../../../src/flow/flow-context';
import type { FetchDeps } from '../../../src/flow/fetch/fetch-output';
import type { MediaDeps } from '../../../src/flow/media/process-media';
import type { ScheduleDeps } from '../../../src/flow/schedule/dispatch-task';
import type { ProviderDeps } from '../../../src/flow/submit/submit-attempt';
import type { ValidateDeps } from '../../../src/flow/upload/validate-asset';
import type { MediaToolkit } from '../../../src/ports/media-toolkit';
import type { MessageBus } from '../../../src/ports/message-bus';
import type { Moderation } from '../../../src/ports/moderation';
import type { ProviderAccount } from '../../../src/ports/provider-gateway';
import type { PubSub } from '../../../src/ports/pub-sub';
import type { Slots } from '../../../src/ports/slots';
import type { OutboxMover } from '../../../src/ports/stores/message-store';
import { readConfig } from '../../../src/runtime/config';
import { createRecordingLog } from '../../contract/recording-log';
import { fixtureTools } from '../media-fixtures';
import type { SandboxProcess } from '../sandbox-process';
import type { ObjectServer } from './object-server';
import type { SettableClock } from './settable-clock';

/** The use cases' surroundings: every adapter is the product's own. */
export interface FlowParts {
  readonly context: FlowContext;
  readonly log: ReturnType<typeof createRecordingLog>;
  readonly clock: SettableClock;
  readonly pool: Pool;
  readonly bus: MessageBus;
  readonly mover: OutboxMover;
  readonly slots: Slots;
  readonly pubSub: PubSub;
  readonly moderation: Moderation;
  readonly schedule: ScheduleDeps;
  /** Whether a scheduler's pass was asked for since the last look. */
  readonly takePassRequest: () => boolean;
  readonly provider: ProviderDeps;
  readonly account: ProviderAccount;
  readonly fetch: FetchDeps;
  readonly media: MediaDeps;
  readonly validate: ValidateDeps;
  close(): Promise<void>;
}

export interface PartsOptions {
  readonly databaseUrl: string;
  readonly sandbox: SandboxProcess;
  readonly callbackUrl: string;
  readonly objects: ObjectServer;
  readonly clock: SettableClock;
  readonly seed: string;
  readonly settings?: Partial<FlowSettings>;
  readonly moderation?: Moderation;
  readonly ledgerWaitMs?: number;
  /** Wraps the real toolkit, e.g. to make one derivative fail. */
  readonly toolkit?: (real: MediaToolkit) => MediaToolkit;
}

export const MEDIA_LIMITS = {
  sizeBytesMax: 50_000_000,
  widthMax: 4_096,
  heightMax: 4_096,
  pixelsMax: 4_096 * 2_304,
  durationMsMax: 60_000,
  frameRateMax: 120,
};

export const createFlowParts = async (options: PartsOptions): Promise<FlowParts> => {
  const { clock, sandbox, objects } = options;
  const log = createRecordingLog();
  const pool = openPool(options.databaseUrl, 'flow', 'on', 10);
  const rebuildable = openPool(options.databaseUrl, 'flow bus', 'off', 4);
  const ids = createSeededIdSource(options.seed);
  const uow = createUnitOfWork({
    pool,
    bell: { ring: () => undefined },
    log,
    ...(options.ledgerWaitMs === undefined ? {} : { ledgerWaitMs: options.ledgerWaitMs }),
  });
  const settings = { ...readConfig({}).flow, ...options.settings };
  const context: FlowContext = {
    ...{ uow, clock, ids, log, settings, random: () => 0.5 },
    // Tests leave messages lying about, and move the clock.
    admission: watchAdmission({
      outboxAgeMs: () => Promise.resolve(0),
      clock,
      refuseMs: 60_000,
    }),
  };
  const slots = createPostgresSlots({ pool: rebuildable });
  const pubSub = createPostgresPubSub({ connectionString: options.databaseUrl, log });
  const gateway = createSandboxGateway({
    connectTimeoutMs: 5_000,
    tlsTimeoutMs: 5_000,
    headersTimeoutMs: 10_000,
    totalTimeoutMs: 20_000,
    clock,
  });
  const account: ProviderAccount = {
    id: 'sandbox-main',
    baseUrl: sandbox.url,
    apiKey: sandbox.apiKey,
    webhookSecrets: [sandbox.webhookSecret],
  };
  const provider: ProviderDeps = {
    gatewayOf: () => gateway,
    accountOf: () => Promise.resolve(account),
    objects: objects.store,
    slots,
    bootId: ids.next(clock.now()),
  };
  const moderation = options.moderation ?? createRuleModeration(DEFAULT_RULES);
  const media = await openMedia(options, moderation);
  let passRequested = false;
  return {
    context,
    log,
    clock,
    pool,
    bus: createPostgresBus({ pool: rebuildable, log, deliveriesMax: 50 }),
    mover: createPostgresOutboxMover({ pool: rebuildable }),
    slots,
    pubSub,
    moderation,
    takePassRequest: () => {
      const requested = passRequested;
      passRequested = false;
      return requested;
    },
    schedule: {
      slots,
      requestPass: () => {
        passRequested = true;
      },
      requestKeyOf,
      callbackUrlOf: (providerId, key) => `${options.callbackUrl}/callbacks/${providerId}/${key}`,
    },
    provider,
    account,
    fetch: {
      ...provider,
      source: createGuardedFetcher({
        clock,
        insecureLocalHosts: [new URL(sandbox.url).host],
      }),
    },
    media,
    validate: { ...media, malware: createSignatureScanner(new Map()) },
    close: async () => {
      await Promise.all([gateway.close(), pubSub.close(), pool.end(), rebuildable.end()]);
    },
  };
};

const openPool = (
  connectionString: string,
  applicationName: string,
  synchronousCommit: 'on' | 'off',
  max: number,
): Pool =>
  createPool({
    connectionString,
    applicationName,
    synchronousCommit,
    max,
    connectionTimeoutMs: 20_000,
    statementTimeoutMs: 30_000,
    idleInTransactionTimeoutMs: 30_000,
  });

/** Cannot be guessed in the product; here it only has to be its own. */
const requestKeyOf = (taskId: string, attemptNo: number): string =>
  `${taskId}.${attemptNo}.${createHash('sha256').update(taskId).digest('base64url').slice(0, 22)}`;

const openMedia = async (options: PartsOptions, moderation: Moderation): Promise<MediaDeps> => {
  const { ffmpeg, ffprobe } = await fixtureTools();
  const { store, tempDir } = options.objects;
  const real = createMediaToolkit({ ffmpeg, ffprobe, tempDir });
  return {
    toolkit: options.toolkit?.(real) ?? real,
    objects: store,
    scratch: createTempFolders(tempDir),
    moderation,
    limits: MEDIA_LIMITS,
  };
};
