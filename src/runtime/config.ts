import path from 'node:path';

import { z } from 'zod';

import type { FlowSettings } from '../flow/flow-context';
import { backEndProblems, backEndShape, shapeBackEnds, type BackEnds } from './back-end-settings';
import {
  rocketmqProblems,
  rocketmqShape,
  shapeRocketmq,
  type RocketmqSettings,
} from './rocketmq-settings';
import {
  objectStoreProblems,
  objectStoreShape,
  shapeObjectStore,
  type ObjectStoreConfig,
} from './object-store-settings';
import {
  databaseProblems,
  databaseShape,
  shapeDatabase,
  type DatabaseSettings,
} from './database-settings';
import { withSecretFiles } from './secret-files';

const port = z.coerce.number().int().min(0).max(65_535);
const url = z.url().transform((value) => value.replace(/\/+$/, ''));
const ms = (standard: number) => z.coerce.number().int().min(0).default(standard);

/**
 * Everything a process can be told, with its default. Read once, all at once: a start lists every problem with the name of
 * its variable, never only the first.
 */
const schema = z.object({
  ...backEndShape,
  ...rocketmqShape,
  ...databaseShape,
  ...objectStoreShape,
  AIVEDIO_ENV: z.enum(['development', 'production']).default('development'),
  /** Empty: the embedded server, kept below the data folder. */
  AIVEDIO_DATABASE_URL: z.string().default(''),
  AIVEDIO_DATA_DIR: z.string().default('data'),
  AIVEDIO_HTTP_HOST: z.string().default('127.0.0.1'),
  AIVEDIO_HTTP_PORT: port.default(4000),
  AIVEDIO_PUBLIC_URL: url.optional(),
  AIVEDIO_CALLBACK_HOST: z.string().default('127.0.0.1'),
  AIVEDIO_CALLBACK_PORT: port.default(4001),
  /** Where providers reach the callback worker. */
  AIVEDIO_CALLBACK_URL: url.optional(),
  /** Where providers fetch input pictures; the public URL unless they see another address. */
  AIVEDIO_PROVIDER_FACING_URL: url.optional(),
  /** 32 bytes or more as base64url; signs object URLs and request keys. Made and kept in the data folder when embedded. */
  AIVEDIO_SIGNING_SECRET: z.string().min(43).optional(),
  AIVEDIO_SANDBOX_URL: url.optional(),
  AIVEDIO_SANDBOX_API_KEY: z.string().min(16).optional(),
  AIVEDIO_SANDBOX_WEBHOOK_SECRET: z.string().startsWith('whsec_').optional(),
  AIVEDIO_SANDBOX_CONCURRENCY: z.coerce.number().int().min(1).default(4),
  AIVEDIO_HEALTH_PORT: port.optional(),
  /** A collector of traces, OTLP over HTTP, without the path (http://collector:4318). */
  AIVEDIO_OTLP_URL: url.optional(),
  /** The name of this machine or place, one worker of a kind each; kept over restarts. Without it leases of a dead worker run out. */
  AIVEDIO_NODE: z.string().min(1).max(200).optional(),
  AIVEDIO_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  AIVEDIO_FFMPEG: z.string().optional(),
  AIVEDIO_FFPROBE: z.string().optional(),
  /** Tests only: `name@hit` of src/ports/crash-points.ts, or `parent`: armed over the process channel. */
  AIVEDIO_CRASH_POINT: z.string().optional(),
  AIVEDIO_CLOCK_OFFSET_MS: z.coerce.number().int().default(0),
  /** `relay`: claim, publish and mark one after the other, as a bus that is no table of this database needs it. */
  AIVEDIO_OUTBOX_MOVER: z.enum(['statement', 'relay']).default('statement'),
  /** `parent`: set by the program that starts all processes of one machine and carries their rings. */
  AIVEDIO_BELL: z.enum(['postgres', 'parent']).default('postgres'),
  /** Workers in processes of their own, several in one, or by the number of processors: of `npm start` and the demo. */
  AIVEDIO_PROCESSES: z.enum(['separate', 'grouped', 'auto']).default('auto'),
  AIVEDIO_POOL_MAX: z.coerce.number().int().min(1).max(50).default(3),
  AIVEDIO_TASK_DEADLINE_MS: ms(30 * 60_000),
  AIVEDIO_RECOVERY_WINDOW_MS: ms(15 * 60_000),
  AIVEDIO_UPLOAD_TICKET_MS: ms(15 * 60_000),
  AIVEDIO_UPLOAD_PARTS_MS: ms(24 * 3_600_000),
  AIVEDIO_DOWNLOAD_TICKET_MS: ms(15 * 60_000),
  AIVEDIO_QUOTE_MS: ms(10 * 60_000),
  /** Longest wait for the ledger: then new generations are refused, and what ends is settled later. */
  AIVEDIO_LEDGER_WAIT_MS: z.coerce.number().int().min(1).max(10_000).default(2_000),
  /** Operations of one API key, mutations of one account, requests without a valid key of one address; 0: as many as come. */
  AIVEDIO_RATE_REQUESTS_PER_MINUTE: ms(6_000),
  AIVEDIO_RATE_MUTATIONS_PER_MINUTE: ms(6_000),
  AIVEDIO_RATE_STRANGERS_PER_MINUTE: ms(600),
  /** Proxies whose X-Forwarded-For is believed, as express' `trust proxy` has them: `loopback, 10.0.0.0/8`. */
  AIVEDIO_TRUSTED_PROXIES: z.string().optional(),
  AIVEDIO_POLL_MS_FIRST: ms(2_000),
  AIVEDIO_POLL_MS_MAX: ms(30_000),
  AIVEDIO_SLOT_TTL_MS: ms(2 * 60_000),
  AIVEDIO_SUBMIT_LEASE_MS: ms(45_000),
  AIVEDIO_ADMISSION_RETRY_MS: ms(2_000),
  AIVEDIO_PLATFORM_CONCURRENT_MAX: z.coerce.number().int().min(1).default(720),
  AIVEDIO_ORPHAN_EVENT_TTL_MS: ms(24 * 3_600_000),
  AIVEDIO_CIRCUIT_FAILURES_MAX: z.coerce.number().int().min(1).default(5),
  AIVEDIO_CIRCUIT_OPEN_MS: ms(30_000),
  AIVEDIO_THROTTLE_MS: ms(30_000),
  AIVEDIO_OUTPUT_BYTES_MAX: z.coerce
    .number()
    .int()
    .min(1)
    .default(2 * 1024 ** 3),
  AIVEDIO_MEDIA_TIME_LIMIT_MS: ms(10 * 60_000),
  AIVEDIO_STUCK_AFTER_MS: ms(60_000),
  AIVEDIO_MEDIA_REVIEW_WINDOW_MS: ms(24 * 3_600_000),
  AIVEDIO_RELAY_LAG_ALARM_MS: ms(20_000),
  /** With an older message in the outbox new generations are refused: of FREE at once, STANDARD at twice, PREMIUM at four times the age. */
  AIVEDIO_RELAY_LAG_REFUSE_MS: ms(60_000).pipe(z.number().min(1_000)),
  AIVEDIO_QUARANTINE_KEEP_MS: ms(7 * 24 * 3_600_000),
  /** Longer than a step may take between its put and its row. */
  AIVEDIO_ORPHAN_OBJECT_AGE_MS: ms(24 * 3_600_000).pipe(z.number().min(3_600_000)),
  AIVEDIO_BUS_LEASE_MS: ms(15_000),
  AIVEDIO_DRAIN_MS: ms(20_000),
  /** How long a process that was told to stop says so at `/readyz` before it takes nothing more; 5,000 in production, else 0. */
  AIVEDIO_UNREADY_MS: z.coerce.number().int().min(0).max(60_000).optional(),
  /** Scratch that nobody has touched for this long was left behind by a crash. */
  AIVEDIO_LEFTOVER_AGE_MS: ms(24 * 3_600_000),
  AIVEDIO_RETENTION_DAYS: z.coerce.number().int().min(1).default(14),
});

export interface Config extends BackEnds, RocketmqSettings, DatabaseSettings {
  readonly objectStore: ObjectStoreConfig;
  readonly production: boolean;
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  readonly http: { readonly host: string; readonly port: number };
  readonly callback: { readonly host: string; readonly port: number };
  readonly publicUrl: string;
  readonly callbackUrl: string;
  readonly providerFacingUrl: string;
  readonly signingSecret: string | null;
  readonly sandbox: {
    readonly url: string | null;
    readonly apiKey: string | null;
    readonly webhookSecret: string | null;
    readonly concurrency: number;
  };
  readonly healthPort: number | null;
  readonly otlpUrl: string | null;
  readonly node: string | null;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly ffmpeg: string | null;
  readonly ffprobe: string | null;
  readonly crashPoint: string | null;
  readonly clockOffsetMs: number;
  readonly outboxMover: 'statement' | 'relay';
  readonly bell: 'postgres' | 'parent';
  readonly processes: 'separate' | 'grouped' | 'auto';
  readonly poolMax: number;
  readonly relayLagRefuseMs: number;
  /** For each minute; 0: as many as come. */
  readonly rates: {
    readonly requests: number;
    readonly mutations: number;
    readonly strangers: number;
  };
  readonly trustedProxies: string | null;
  readonly ledgerWaitMs: number;
  readonly busLeaseMs: number;
  readonly drainMs: number;
  readonly unreadyMs: number;
  readonly leftoverAgeMs: number;
  readonly retentionDays: number;
  readonly flow: FlowSettings;
}

/** Every problem of the configuration at once, one line each, with the variable's name. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(
      `The configuration has ${problems.length} problem(s):\n${problems.map((each) => `  - ${each}`).join('\n')}`,
    );
  }
}

export const readConfig = (
  env: Readonly<Record<string, string | undefined>> = process.env,
): Config => {
  const given = Object.fromEntries(
    Object.entries(env).filter(([key, value]) => key.startsWith('AIVEDIO_') && value !== ''),
  );
  const secrets = withSecretFiles(given);
  const parsed = schema.safeParse(secrets.values);
  const problems = [
    ...secrets.problems,
    ...(parsed.success
      ? [
          ...backEndProblems(parsed.data),
          ...rocketmqProblems(parsed.data),
          ...databaseProblems(parsed.data),
          ...objectStoreProblems(parsed.data),
          ...productionProblems(parsed.data),
        ]
      : parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)),
  ];
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  return shape(parsed.data);
};

type Parsed = z.infer<typeof schema>;

const productionProblems = (values: Parsed): string[] => {
  if (values.AIVEDIO_ENV !== 'production') return [];
  return [
    ...(values.AIVEDIO_DATABASE_URL === ''
      ? ['AIVEDIO_DATABASE_URL: production needs a Postgres of its own (postgresql://…)']
      : []),
    ...(values.AIVEDIO_SIGNING_SECRET === undefined
      ? [
          'AIVEDIO_SIGNING_SECRET: set 32 random bytes as base64url (openssl rand -base64 32 | tr +/ -_ | tr -d =)',
        ]
      : []),
    ...(values.AIVEDIO_PUBLIC_URL === undefined
      ? ['AIVEDIO_PUBLIC_URL: set the address under which clients reach the API']
      : []),
    ...(values.AIVEDIO_CRASH_POINT === undefined
      ? []
      : ['AIVEDIO_CRASH_POINT: crash points are refused in production; unset it']),
    ...(values.AIVEDIO_CLOCK_OFFSET_MS === 0
      ? []
      : ['AIVEDIO_CLOCK_OFFSET_MS: a shifted clock is refused in production; unset it']),
  ];
};

const shape = (values: Parsed): Config => {
  const publicUrl =
    values.AIVEDIO_PUBLIC_URL ?? `http://${values.AIVEDIO_HTTP_HOST}:${values.AIVEDIO_HTTP_PORT}`;
  return {
    ...shapeBackEnds(values),
    ...shapeRocketmq(values),
    ...shapeDatabase(values),
    objectStore: shapeObjectStore(values),
    production: values.AIVEDIO_ENV === 'production',
    databaseUrl: values.AIVEDIO_DATABASE_URL === '' ? null : values.AIVEDIO_DATABASE_URL,
    dataDir: path.resolve(values.AIVEDIO_DATA_DIR),
    http: { host: values.AIVEDIO_HTTP_HOST, port: values.AIVEDIO_HTTP_PORT },
    callback: { host: values.AIVEDIO_CALLBACK_HOST, port: values.AIVEDIO_CALLBACK_PORT },
    publicUrl,
    callbackUrl:
      values.AIVEDIO_CALLBACK_URL ??
      `http://${values.AIVEDIO_CALLBACK_HOST}:${values.AIVEDIO_CALLBACK_PORT}`,
    providerFacingUrl: values.AIVEDIO_PROVIDER_FACING_URL ?? publicUrl,
    signingSecret: values.AIVEDIO_SIGNING_SECRET ?? null,
    sandbox: {
      url: values.AIVEDIO_SANDBOX_URL ?? null,
      apiKey: values.AIVEDIO_SANDBOX_API_KEY ?? null,
      webhookSecret: values.AIVEDIO_SANDBOX_WEBHOOK_SECRET ?? null,
      concurrency: values.AIVEDIO_SANDBOX_CONCURRENCY,
    },
    healthPort: values.AIVEDIO_HEALTH_PORT ?? null,
    otlpUrl: values.AIVEDIO_OTLP_URL ?? null,
    node: values.AIVEDIO_NODE ?? null,
    logLevel: values.AIVEDIO_LOG_LEVEL,
    ffmpeg: values.AIVEDIO_FFMPEG ?? null,
    ffprobe: values.AIVEDIO_FFPROBE ?? null,
    crashPoint: values.AIVEDIO_CRASH_POINT ?? null,
    clockOffsetMs: values.AIVEDIO_CLOCK_OFFSET_MS,
    outboxMover: values.AIVEDIO_OUTBOX_MOVER,
    bell: values.AIVEDIO_BELL,
    processes: values.AIVEDIO_PROCESSES,
    poolMax: values.AIVEDIO_POOL_MAX,
    relayLagRefuseMs: values.AIVEDIO_RELAY_LAG_REFUSE_MS,
    rates: {
      requests: values.AIVEDIO_RATE_REQUESTS_PER_MINUTE,
      mutations: values.AIVEDIO_RATE_MUTATIONS_PER_MINUTE,
      strangers: values.AIVEDIO_RATE_STRANGERS_PER_MINUTE,
    },
    trustedProxies: values.AIVEDIO_TRUSTED_PROXIES ?? null,
    ledgerWaitMs: values.AIVEDIO_LEDGER_WAIT_MS,
    busLeaseMs: values.AIVEDIO_BUS_LEASE_MS,
    drainMs: values.AIVEDIO_DRAIN_MS,
    unreadyMs: values.AIVEDIO_UNREADY_MS ?? (values.AIVEDIO_ENV === 'production' ? 5_000 : 0),
    leftoverAgeMs: values.AIVEDIO_LEFTOVER_AGE_MS,
    retentionDays: values.AIVEDIO_RETENTION_DAYS,
    flow: flowSettings(values),
  };
};

const flowSettings = (values: Parsed): FlowSettings => ({
  taskDeadlineMs: values.AIVEDIO_TASK_DEADLINE_MS,
  recoveryWindowMs: values.AIVEDIO_RECOVERY_WINDOW_MS,
  uploadTicketMs: values.AIVEDIO_UPLOAD_TICKET_MS,
  uploadPartsMs: values.AIVEDIO_UPLOAD_PARTS_MS,
  downloadTicketMs: values.AIVEDIO_DOWNLOAD_TICKET_MS,
  quoteMs: values.AIVEDIO_QUOTE_MS,
  pollMsFirst: values.AIVEDIO_POLL_MS_FIRST,
  pollMsMax: values.AIVEDIO_POLL_MS_MAX,
  slotTtlMs: values.AIVEDIO_SLOT_TTL_MS,
  submitLeaseMs: values.AIVEDIO_SUBMIT_LEASE_MS,
  admissionRetryMs: values.AIVEDIO_ADMISSION_RETRY_MS,
  platformConcurrentMax: values.AIVEDIO_PLATFORM_CONCURRENT_MAX,
  orphanEventTtlMs: values.AIVEDIO_ORPHAN_EVENT_TTL_MS,
  circuitFailuresMax: values.AIVEDIO_CIRCUIT_FAILURES_MAX,
  circuitOpenMs: values.AIVEDIO_CIRCUIT_OPEN_MS,
  throttleMs: values.AIVEDIO_THROTTLE_MS,
  outputBytesMax: values.AIVEDIO_OUTPUT_BYTES_MAX,
  mediaTimeLimitMs: values.AIVEDIO_MEDIA_TIME_LIMIT_MS,
  stuckAfterMs: values.AIVEDIO_STUCK_AFTER_MS,
  mediaReviewWindowMs: values.AIVEDIO_MEDIA_REVIEW_WINDOW_MS,
  relayLagAlarmMs: values.AIVEDIO_RELAY_LAG_ALARM_MS,
  quarantineKeepMs: values.AIVEDIO_QUARANTINE_KEEP_MS,
  orphanObjectAgeMs: values.AIVEDIO_ORPHAN_OBJECT_AGE_MS,
});

/** For child processes: PATH, locale and whatever else the platform needs. */
export const inheritedEnvironment = (): Readonly<Record<string, string | undefined>> => process.env;
