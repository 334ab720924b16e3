import { ObjectStoreUnavailableError } from '../../../ports/object-store';

import type { S3Settings } from './s3-client';
import { nameOf, statusOf, toStoreError } from './s3-errors';

export interface BucketProblem {
  /** What a person has to set; the variable's name, with few exceptions. */
  readonly variable: string;
  /** What was tried, what was found, and the remedy, in one line. */
  readonly says: string;
  /**
   * `REFUSED`: the store serves nothing to this configuration, and waiting mends nothing. `AWAY`: it may come back.
   * `LACKS`: it serves, but not everything to everyone.
   */
  readonly kind: 'REFUSED' | 'AWAY' | 'LACKS';
}

export const shownEndpoint = ({ endpoint, region }: S3Settings): string =>
  endpoint ?? `S3 of AWS in ${region}`;

const KEY_UNKNOWN = new Set([
  ...['InvalidAccessKeyId', 'InvalidToken'],
  // versitygw, where it knows one user only.
  'XAdminUserNotFound',
]);
const REGION_WRONG = new Set([
  ...['AuthorizationHeaderMalformed', 'PermanentRedirect', 'IllegalLocationConstraintException'],
  ...['InvalidRegion', 'InvalidLocationConstraint'],
]);

/** One line for whatever the store, or the network before it, answered. */
export const explainRefusal = (error: unknown, settings: S3Settings): BucketProblem => {
  const name = nameOf(error);
  const status = statusOf(error);
  const at = shownEndpoint(settings);
  const { bucket, accessKeyId, region } = settings;
  const refused = (variable: string, says: string): BucketProblem => ({
    ...{ variable, says, kind: 'REFUSED' },
  });
  if (KEY_UNKNOWN.has(name)) {
    return refused(
      'AIVEDIO_S3_ACCESS_KEY_ID',
      `${at} does not know the key ${accessKeyId}; take one that exists there and is enabled`,
    );
  }
  if (name === 'SignatureDoesNotMatch') {
    return refused(
      'AIVEDIO_S3_SECRET_ACCESS_KEY',
      `${at} knows the key ${accessKeyId} by another secret; put in the secret that belongs to it`,
    );
  }
  if (name === 'RequestTimeTooSkewed') {
    return refused(
      'AIVEDIO_S3_ENDPOINT',
      `${at} refuses signatures because the clocks differ; set the clock of this machine by NTP`,
    );
  }
  if (name === 'NoSuchBucket') {
    return refused(
      'AIVEDIO_S3_BUCKET',
      `${at} has no bucket ${bucket}; put in one that exists, or make it: npm run cli -- storage create`,
    );
  }
  if (REGION_WRONG.has(name) || status === 301) {
    return refused(
      'AIVEDIO_S3_REGION',
      `${at} does not keep the bucket ${bucket} in ${region} (${name}: ${wordsOf(error)}); put in its region`,
    );
  }
  if (status === 401 || status === 403) {
    return refused(
      'AIVEDIO_S3_ACCESS_KEY_ID',
      `${at} lets the key ${accessKeyId} not list the bucket ${bucket} (${status} ${name}); give it the rights to list, ` +
        'read, write and delete there, or put in a bucket of its own',
    );
  }
  if (toStoreError(error) instanceof ObjectStoreUnavailableError) {
    return { variable: 'AIVEDIO_S3_ENDPOINT', says: awaySays(error, settings), kind: 'AWAY' };
  }
  return refused(
    'AIVEDIO_S3_ENDPOINT',
    `what answers at ${at} does not speak S3 (${status} ${name}: ${wordsOf(error)}); put in the address of the S3 server`,
  );
};

const awaySays = (error: unknown, settings: S3Settings): string => {
  const status = statusOf(error);
  const { code } = error as { readonly code?: string };
  // "connect ECONNREFUSED 127.0.0.1:9000" says no more than its code.
  const short = code ?? /\bE[A-Z]{4,}\b/.exec(wordsOf(error))?.[0];
  const found = status === 0 ? (short ?? wordsOf(error)) : `${status} ${nameOf(error)}`;
  const remedy =
    settings.addressing === 'virtual'
      ? `is the address right, does the server run, and does ${settings.bucket}.<its host> lead to it? AIVEDIO_S3_ADDRESSING=path does without that`
      : 'is the address right, and does the server run?';
  return `${shownEndpoint(settings)} ${status === 0 ? 'does not answer' : 'fails'} (${found}); ${remedy}`;
};

const wordsOf = (error: unknown): string =>
  String((error as Error | null)?.message ?? error)
    .replace(/\s+/g, ' ')
    .slice(0, 120);
