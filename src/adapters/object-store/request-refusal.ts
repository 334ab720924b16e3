import {
  InvalidObjectKeyError,
  ObjectMismatchError,
  ObjectStoreUnavailableError,
  ObjectTooLargeError,
} from '../../ports/object-store';
import { codeOf } from './error-code';

/** A request that is answered with `status` and JSON `{code, message}`. */
export class RequestRefusedError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** The refusal that an error of the store means to a client; null for what is none of its errors. */
export function toRefusal(error: unknown): RequestRefusedError | null {
  if (error instanceof RequestRefusedError) return error;
  if (error instanceof InvalidObjectKeyError) {
    return new RequestRefusedError(400, 'InvalidKey', 'that is not an object key');
  }
  if (error instanceof ObjectMismatchError) {
    return new RequestRefusedError(400, 'BadDigest', 'the bytes are not those that were signed');
  }
  if (error instanceof ObjectTooLargeError) {
    return new RequestRefusedError(413, 'EntityTooLarge', 'the body is longer than was signed');
  }
  if (error instanceof ObjectStoreUnavailableError) {
    return new RequestRefusedError(503, 'SlowDown', 'the store is out of reach');
  }
  return CUT_CONNECTION_CODES.has(codeOf(error))
    ? new RequestRefusedError(400, 'IncompleteBody', 'the connection ended early')
    : null;
}

const CUT_CONNECTION_CODES = new Set([
  ...['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'],
]);
