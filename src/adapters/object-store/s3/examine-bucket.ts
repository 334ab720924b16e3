import {
  CreateBucketCommand,
  GetBucketCorsCommand,
  GetBucketEncryptionCommand,
  GetBucketLifecycleConfigurationCommand,
  ListObjectsV2Command,
  PutBucketCorsCommand,
  PutBucketLifecycleConfigurationCommand,
  type BucketLocationConstraint,
  type CORSRule,
  type LifecycleRule,
  type S3Client,
} from '@aws-sdk/client-s3';

import type { Clock } from '../../../ports/clock';
import { judgeCors, unfinishedDays, withCors, withUnfinishedRule } from './bucket-rules';
import { explainRefusal, shownEndpoint, type BucketProblem } from './explain-refusal';
import { openS3Clients, type S3Settings } from './s3-client';
import { nameOf, statusOf } from './s3-errors';

export interface BucketVerdict {
  readonly fine: readonly string[];
  /** Worth knowing; nothing has to be done. */
  readonly notes: readonly string[];
  readonly problems: readonly BucketProblem[];
}

export interface BucketQuestion {
  readonly settings: S3Settings;
  /** Where the pages come from that upload and play. */
  readonly origin: string;
  readonly clock: Clock;
  /** Also what only a person wants to know: rules for leftovers, encryption. */
  readonly thorough: boolean;
}

const ATTEMPTS_MAX = 2;
const IDLE_TIMEOUT_MS = 5_000;
/** Stores refuse signatures that are this far from their own clock. */
const SKEW_REFUSED_MS = 15 * 60_000;
/** So far apart, signed URLs live noticeably shorter or longer than was said. */
const SKEW_NOTICED_MS = 60_000;

/** Looks, and changes nothing. Whatever it finds is in the verdict; it does not throw for what a store may answer. */
export const examineBucket = async (question: BucketQuestion): Promise<BucketVerdict> =>
  withClient(question, (client) => examine(client, question));

/** Makes what is missing, leaves what is right and what others made, and looks again. */
export const createBucket = async (question: BucketQuestion): Promise<BucketVerdict> =>
  withClient(question, async (client) => {
    const before = await examine(client, question);
    const failed: BucketProblem[] = [];
    const attempt = async (variable: string, what: string, work: () => Promise<unknown>) => {
      try {
        await work();
      } catch (error) {
        const found = `${statusOf(error)} ${nameOf(error)}`;
        const says = `${shownEndpoint(question.settings)} refused to ${what} (${found}); let somebody do it who may`;
        failed.push({ variable, says, kind: 'LACKS' });
      }
    };
    const { bucket, region, endpoint } = question.settings;
    const refused = before.problems.find(({ kind }) => kind !== 'LACKS');
    if (refused?.variable === 'AIVEDIO_S3_BUCKET') {
      await attempt('AIVEDIO_S3_BUCKET', `make the bucket ${bucket}`, () =>
        client.send(newBucket(bucket, endpoint === null ? region : null)),
      );
    } else if (refused !== undefined) {
      return before;
    }
    if (failed.length > 0) return { ...before, problems: failed };
    const cors = await readCors(client, bucket);
    if (cors.seen && judgeCors(cors.rules, question.origin).length > 0) {
      const CORSConfiguration = { CORSRules: withCors(cors.rules, question.origin) };
      await attempt('AIVEDIO_S3_BUCKET', 'set CORS', () =>
        client.send(new PutBucketCorsCommand({ Bucket: bucket, CORSConfiguration })),
      );
    }
    const lifecycle = await readLifecycle(client, bucket);
    if (lifecycle.seen && unfinishedDays(lifecycle.rules) === null) {
      await attempt('AIVEDIO_S3_BUCKET', 'set a lifecycle rule', () =>
        client.send(
          new PutBucketLifecycleConfigurationCommand({
            Bucket: bucket,
            LifecycleConfiguration: { Rules: withUnfinishedRule(lifecycle.rules) },
          }),
        ),
      );
    }
    const after = await examine(client, question);
    // What was refused says more than that it is still missing.
    return failed.length === 0 ? after : { ...after, problems: failed };
  });

/** AWS wants the region told, unless it is the first one; other stores have but one. */
const newBucket = (bucket: string, region: string | null): CreateBucketCommand =>
  new CreateBucketCommand({
    Bucket: bucket,
    ...(region === null || region === 'us-east-1'
      ? {}
      : {
          CreateBucketConfiguration: { LocationConstraint: region as BucketLocationConstraint },
        }),
  });

type WatchedClient = S3Client & { serverTime(): Date | null };

const withClient = async <T>(
  { settings }: BucketQuestion,
  work: (client: WatchedClient) => Promise<T>,
): Promise<T> => {
  const clients = openS3Clients(settings, {
    attemptsMax: ATTEMPTS_MAX,
    idleTimeoutMs: IDLE_TIMEOUT_MS,
  });
  let seen: Date | null = null;
  // The SDK corrects a wrong clock silently, for itself; what is signed for clients stays wrong.
  clients.inside.middlewareStack.add(
    (next) => async (given) => {
      const answered = await next(given);
      const { headers } = answered.response as { readonly headers?: Record<string, string> };
      const date = new Date(headers?.['date'] ?? '');
      if (!Number.isNaN(date.getTime())) seen = date;
      return answered;
    },
    { step: 'deserialize', priority: 'low', name: 'rememberServerTime' },
  );
  try {
    return await work(Object.assign(clients.inside, { serverTime: () => seen }));
  } finally {
    clients.close();
  }
};

const examine = async (client: WatchedClient, question: BucketQuestion): Promise<BucketVerdict> => {
  const { settings, clock, origin, thorough } = question;
  const at = shownEndpoint(settings);
  const { bucket } = settings;
  try {
    // HEAD would be cheaper, but its answer has no room for the reason.
    const page = await client.send(new ListObjectsV2Command({ Bucket: bucket, MaxKeys: 1 }));
    if (page.Name === undefined) throw new Error('it answers without the name of the bucket');
  } catch (error) {
    return { fine: [], notes: [], problems: [explainRefusal(error, settings)] };
  }
  const fine = [`${at} lets the key ${settings.accessKeyId} list the bucket ${bucket}`];
  const notes: string[] = [];
  const problems: BucketProblem[] = [];
  const time = client.serverTime();
  const skewMs = time === null ? 0 : Math.abs(clock.now().getTime() - time.getTime());
  if (time !== null && skewMs > SKEW_NOTICED_MS) {
    problems.push({
      variable: 'AIVEDIO_S3_ENDPOINT',
      says:
        `${at} has ${time.toISOString()}, this machine is ${Math.round(skewMs / 1000)} s apart, so signed URLs are refused or live ` +
        'too long; set the clock of this machine by NTP',
      kind: skewMs >= SKEW_REFUSED_MS ? 'REFUSED' : 'LACKS',
    });
  }
  const cors = await readCors(client, bucket);
  if (!cors.seen) notes.push(`CORS of the bucket cannot be seen with this key (${cors.why})`);
  else {
    const lacks = judgeCors(cors.rules, origin);
    if (lacks.length === 0) fine.push(`CORS lets pages of ${origin} upload and play`);
    else {
      const found = cors.rules.length === 0 ? 'has no CORS rule' : `has CORS that ${lacks[0]}`;
      problems.push({
        variable: 'AIVEDIO_S3_BUCKET',
        says: `the bucket ${bucket} at ${at} ${found} for pages of ${origin} (AIVEDIO_PUBLIC_URL); npm run cli -- storage create`,
        kind: 'LACKS',
      });
    }
  }
  if (!thorough) return { fine, notes, problems };
  const lifecycle = await readLifecycle(client, bucket);
  if (!lifecycle.seen) {
    notes.push(
      `no lifecycle rules here (${lifecycle.why}): the product sweeps unfinished uploads itself`,
    );
  } else {
    const days = unfinishedDays(lifecycle.rules);
    if (days !== null) fine.push(`unfinished uploads end by lifecycle rule after ${days} days`);
    else {
      problems.push({
        variable: 'AIVEDIO_S3_BUCKET',
        says: `the bucket ${bucket} at ${at} has no lifecycle rule that ends unfinished uploads; npm run cli -- storage create`,
        kind: 'LACKS',
      });
    }
  }
  notes.push(await readEncryption(client, bucket));
  return { fine, notes, problems };
};

type Rules<Rule> =
  | { readonly seen: true; readonly rules: readonly Rule[] }
  | { readonly seen: false; readonly why: string };

/** No rules answer 404 with a name of its own; everything else is a store without them, or a key without the right. */
const rulesOr = <Rule>(error: unknown, noRules: string): Rules<Rule> =>
  nameOf(error) === noRules
    ? { seen: true, rules: [] }
    : { seen: false, why: `${statusOf(error)} ${nameOf(error)}` };

const readCors = async (client: S3Client, bucket: string): Promise<Rules<CORSRule>> => {
  try {
    const found = await client.send(new GetBucketCorsCommand({ Bucket: bucket }));
    return { seen: true, rules: found.CORSRules ?? [] };
  } catch (error) {
    return rulesOr(error, 'NoSuchCORSConfiguration');
  }
};

const readLifecycle = async (client: S3Client, bucket: string): Promise<Rules<LifecycleRule>> => {
  try {
    const found = await client.send(new GetBucketLifecycleConfigurationCommand({ Bucket: bucket }));
    return { seen: true, rules: found.Rules ?? [] };
  } catch (error) {
    return rulesOr(error, 'NoSuchLifecycleConfiguration');
  }
};

const readEncryption = async (client: S3Client, bucket: string): Promise<string> => {
  try {
    const found = await client.send(new GetBucketEncryptionCommand({ Bucket: bucket }));
    const names = (found.ServerSideEncryptionConfiguration?.Rules ?? []).flatMap(
      ({ ApplyServerSideEncryptionByDefault: by }) => by?.SSEAlgorithm ?? [],
    );
    return names.length === 0
      ? 'the bucket has no default encryption'
      : `the bucket encrypts with ${names.join(', ')} by default`;
  } catch (error) {
    return `the bucket does not tell its default encryption (${statusOf(error)} ${nameOf(error)})`;
  }
};
