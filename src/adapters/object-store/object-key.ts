import { InvalidObjectKeyError } from '../../ports/object-store';

const KEY_LENGTH_MAX = 1024;
/** File systems allow 255 bytes for a name; two are our mark. */
const SEGMENT_LENGTH_MAX = 250;
const SEGMENT = /^[A-Za-z0-9\-_.=]+$/;

/** What may stand between two slashes of a key. */
export function isSegment(text: string): boolean {
  return SEGMENT.test(text) && text.length <= SEGMENT_LENGTH_MAX && text !== '.' && text !== '..';
}

/** @throws InvalidObjectKeyError unless the key is one that the port allows. */
export function assertObjectKey(key: string): void {
  const segments = key.split('/');
  const valid = key.length <= KEY_LENGTH_MAX && segments.every(isSegment);
  if (!valid) throw new InvalidObjectKeyError(`not an object key: ${JSON.stringify(key)}`);
}

/**
 * A prefix that is handed out ends at a segment border: `tenant-1` would open `tenant-10` too.
 *
 * @throws InvalidObjectKeyError
 */
export function assertFolderPrefix(prefix: string): void {
  if (!prefix.endsWith('/')) {
    throw new InvalidObjectKeyError(`a shared prefix ends with "/": ${JSON.stringify(prefix)}`);
  }
  assertObjectKey(prefix.slice(0, -1));
}

/**
 * A listing may begin anywhere within a segment, but never outside the store.
 *
 * @throws InvalidObjectKeyError
 */
export function assertListPrefix(prefix: string): void {
  const start = prefix.lastIndexOf('/') + 1;
  if (start > 0) assertObjectKey(prefix.slice(0, start - 1));
  const rest = prefix.slice(start);
  if (rest !== '' && !SEGMENT.test(rest)) {
    throw new InvalidObjectKeyError(`not a prefix of a key: ${JSON.stringify(prefix)}`);
  }
}
