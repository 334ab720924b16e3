import { ObjectStoreUnavailableError } from '../../../ports/object-store';

interface Answered {
  readonly name?: string;
  readonly code?: string;
  readonly message?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** The HTTP status that the store answered; 0 where it answered nothing. */
export const statusOf = (error: unknown): number =>
  (error as Answered | null)?.$metadata?.httpStatusCode ?? 0;

export const nameOf = (error: unknown): string => (error as Answered | null)?.name ?? '';

/** No such key. A missing bucket answers 404 too, and is an outage. */
export const isMissing = (error: unknown): boolean =>
  statusOf(error) === 404 && nameOf(error) !== 'NoSuchBucket';

/** What stands at the key is not what the write demanded, or is being written by another. */
export const isTaken = (error: unknown): boolean =>
  statusOf(error) === 412 || (statusOf(error) === 409 && nameOf(error).startsWith('Conditional'));

const NETWORK_CODES = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND'],
  ...['EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ERR_STREAM_PREMATURE_CLOSE', 'CERT_HAS_EXPIRED'],
]);

/** The SDK wraps an error that comes from another realm, and only its words remain. */
const NETWORK_WORDS = new RegExp(
  `socket hang up|\\bTLS\\b|certificate|aborted$|${[...NETWORK_CODES].join('|')}`,
  'i',
);

/** By shape and not by class: errors may come from another realm than this code. */
const isOutage = (error: unknown): boolean => {
  const { name = '', code = '', message = '' } = (error ?? {}) as Answered;
  const status = statusOf(error);
  return (
    // Rejected keys and a lost bucket are the operator's to mend: what waits for the store goes on waiting.
    [401, 403, 429].includes(status) ||
    status >= 500 ||
    ['NoSuchBucket', 'TimeoutError', 'RequestTimeout', 'SlowDown'].includes(name) ||
    NETWORK_CODES.has(code) ||
    (status === 0 && NETWORK_WORDS.test(message))
  );
};

/** Turns what the SDK throws when the store cannot be used into the error of the port. */
export const asStoreErrors = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw toStoreError(error);
  }
};

export const toStoreError = (error: unknown): unknown => {
  if (error instanceof ObjectStoreUnavailableError || !isOutage(error)) return error;
  const { name, code } = error as Answered;
  const status = statusOf(error);
  const what = [status === 0 ? null : status, code ?? name].filter((each) => each !== null);
  return new ObjectStoreUnavailableError(`the S3 store failed: ${what.join(' ')}`, {
    cause: error,
  });
};
