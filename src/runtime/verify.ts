import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { createSystemClock } from '../adapters/clock/system-clock';
import { createMachineLook } from '../adapters/evidence/machine-look';
import { readSandboxLog } from '../adapters/evidence/sandbox-log';
import { createDiskObjectStore } from '../adapters/object-store/disk/disk-object-store';
import { storedEvidence, type BytesRead } from '../adapters/object-store/disk/stored-evidence';
import { deferS3Store, type DeferredS3Store } from '../adapters/object-store/s3/deferred-s3-store';
import { storedEvidence as storedInBucket } from '../adapters/object-store/s3/stored-evidence';
import { createIdSource } from '../adapters/ids/uuid-ids';
import { openLook } from '../adapters/postgres/verify/open-look';
import { createRedisConnection, RedisUnavailableError } from '../adapters/redis/redis-connection';
import { readHeldSlots } from '../adapters/redis/slots/held-slots';
import { partsEvidence } from '../flow/verify/parts-evidence';
import { verifyFacts, type VerifyReport } from '../flow/verify/verify-facts';
import type { Log } from '../ports/log';
import type { Evidence, Secret } from '../ports/verification';
import type { Config } from './config';
import { isFolderLocked } from './data-folder-lock';
import { CannotLookError, reachDatabase } from './reach-database';
import { deriveKey, readEmbeddedState } from './secrets';

export interface VerifyRequest {
  readonly config: Config;
  readonly log: Log;
  readonly settleMs: number;
  readonly only: readonly string[] | null;
  /** Words that stand in prompts and must stand in no log or message. */
  readonly canaries: readonly string[];
  /** Given, the bytes of all objects are read, and it is told how far that has come. */
  readonly onBytes: ((read: BytesRead) => void) | null;
  /** Told the path of what lies among the objects and is none: it is looked past. */
  readonly onStray?: (path: string) => void;
}

const CONNECT_TIMEOUT_MS = 10_000;
const STATEMENT_TIMEOUT_MS = 15 * 60_000;
const DAY_MS = 86_400_000;
/** A sweep comes round within this time after scratch has become old enough for it. */
const SWEEP_SLACK_MS = 30_000;

/**
 * Looks at the database of the configuration, or at the embedded one of the data folder, which is started for the time of
 * the look when it does not run; at the provider's log, the object store and the logs where they are on this machine.
 */
export const verifyStored = async (request: VerifyRequest): Promise<VerifyReport> => {
  const { config } = request;
  const database = await reachDatabase(config, request.log);
  const s3 = openBucket(config);
  try {
    const look = await openLook({
      connectionString: database.url,
      connectionTimeoutMs: CONNECT_TIMEOUT_MS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    }).catch((error: unknown) => {
      throw new CannotLookError(`The database cannot be reached: ${String(error)}`, {
        cause: error,
      });
    });
    try {
      return await verifyFacts(
        {
          look,
          slots: await heldSlotsOf(request),
          providerLog: providerLogOf(config),
          objects: s3 === null ? objectsOf(request) : objectsIn(s3, request),
          deep: request.onBytes !== null,
          machine: existsSync(config.dataDir) ? machineOf(config) : null,
          secrets: secretsOf(config, database.url, request.canaries),
        },
        {
          now: createSystemClock(config.clockOffsetMs).now(),
          settleMs: request.settleMs,
          keptMs: Math.max(config.retentionDays - 1, 0) * DAY_MS,
          only: request.only,
        },
      );
    } finally {
      await look.close();
    }
  } finally {
    s3?.close();
    await database.stop();
  }
};

/** Where the database counts slots itself, its own rows are all there is. Null: Redis cannot be reached. */
const heldSlotsOf = async ({ config, log }: VerifyRequest): Promise<Iterable<Evidence> | null> => {
  if (config.slots !== 'redis' || config.redis === null) return [];
  const { url, prefix } = config.redis;
  const callTimeoutMs = CONNECT_TIMEOUT_MS;
  const connection = createRedisConnection({ url, name: 'aivedio-verify', log, callTimeoutMs });
  try {
    return await readHeldSlots(connection, prefix);
  } catch (error) {
    if (!(error instanceof RedisUnavailableError)) throw error;
    log.warn('slots cannot be looked at', { error: error.message });
    return null;
  } finally {
    await connection.close();
  }
};

const providerLogOf = (config: Config): AsyncIterable<Evidence> | null => {
  const dir = path.join(config.dataDir, 'sandbox');
  return existsSync(dir) ? readSandboxLog(dir) : null;
};

const objectsOf = ({ config, onBytes, onStray }: VerifyRequest): AsyncIterable<Evidence> | null => {
  const root = path.join(config.dataDir, 'objects');
  if (!existsSync(root)) return null;
  const { parts } = createDiskObjectStore({
    ...{ root, publicBaseUrl: config.publicUrl, signingKey: Buffer.alloc(32) },
    clock: createSystemClock(config.clockOffsetMs),
  });
  return both(storedEvidence(root, onBytes, onStray), partsEvidence({ parts }, leftBefore(config)));
};

const objectsIn = (s3: DeferredS3Store, { config, onBytes }: VerifyRequest) =>
  both(storedInBucket(s3.objects, onBytes), partsEvidence(s3.objects, leftBefore(config)));

async function* both(...all: readonly AsyncIterable<Evidence>[]): AsyncGenerator<Evidence> {
  for (const each of all) yield* each;
}

/** What was left behind before then has been swept. */
const leftBefore = (config: Config): Date =>
  new Date(createSystemClock(0).now().getTime() - config.leftoverAgeMs - SWEEP_SLACK_MS);

/** Only to look: it signs nothing, so that its key need not be the product's. */
const openBucket = (config: Config): DeferredS3Store | null =>
  config.objectStore.s3 === null
    ? null
    : deferS3Store({
        settings: config.objectStore.s3,
        prefixBaseUrl: config.publicUrl,
        signingKey: Buffer.alloc(32),
        clock: createSystemClock(config.clockOffsetMs),
        ids: createIdSource(),
      });

const machineOf = (config: Config) => {
  const postgres = path.join(config.dataDir, 'postgres');
  return createMachineLook({
    logs: [
      path.join(config.dataDir, 'logs'),
      ...[postgres, movedTo(postgres)].flatMap((root) =>
        root === null ? [] : [path.join(root, 'cluster', 'log'), path.join(root, 'start.log')],
      ),
    ],
    scratch: [path.join(config.dataDir, 'temp'), path.join(config.dataDir, 'objects', 'tmp')],
    leftBefore: leftBefore(config),
    dataDir: config.dataDir,
    running: isFolderLocked(config.dataDir),
    ownPids: [process.pid],
  });
};

const movedTo = (dataDir: string): string | null => {
  const pointer = path.join(dataDir, 'moved-to');
  return existsSync(pointer) ? readFileSync(pointer, 'utf8').trim() : null;
};

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** What must stand nowhere. Names are told, never the secrets. */
const secretsOf = (
  config: Config,
  databaseUrl: string,
  canaries: readonly string[],
): readonly Secret[] => {
  const state = readEmbeddedState(config.dataDir);
  const signing = config.signingSecret ?? state?.signingSecret ?? null;
  const literal: readonly (readonly [string, string | null | undefined])[] = [
    ['the signing secret', signing],
    [
      'a key derived from it',
      signing === null ? null : deriveKey(signing, 'object-urls').toString('base64url'),
    ],
    ['the provider’s API key', config.sandbox.apiKey ?? state?.sandbox.apiKey],
    ['the secret of the object store', config.objectStore.s3?.secretAccessKey],
    ['the webhook secret', config.sandbox.webhookSecret ?? state?.sandbox.webhookSecret],
    ['the password of the database', decodeURIComponent(new URL(databaseUrl).password) || null],
    ...canaries.map((word, index): [string, string] => [`canary ${index + 1}`, word]),
  ];
  return [
    { name: 'an API key', pattern: 'avk_[0-9a-f]{12}_[A-Za-z0-9_-]{43}' },
    { name: 'a signed URL', pattern: '[?&](sig|signature|X-Amz-Signature)=[A-Za-z0-9_-]{16}' },
    // Shorter words would be found by chance.
    ...literal.flatMap(([name, text]) =>
      text === null || text === undefined || text.length < 8
        ? []
        : [{ name, pattern: literally(text) }],
    ),
  ];
};
