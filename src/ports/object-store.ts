import type { Readable } from 'node:stream';

import type { PartUploads } from './part-uploads';
import type { UploadTicket } from './upload-ticket';

export type { UploadTicket } from './upload-ticket';

/** What the store knows of one object. */
export interface ObjectHead {
  readonly key: string;
  readonly sizeBytes: number;
  /** Lower-case hex SHA-256 of the bytes, as computed by the store or recorded at write. */
  readonly sha256: string;
  readonly contentType: string;
  readonly modifiedAt: Date;
}

/** What a listing tells of an object: stores know no more of many objects at once. */
export type ListedObject = Pick<ObjectHead, 'key' | 'sizeBytes' | 'modifiedAt'>;

/** A stream that came whole: what it is, wherever it comes to stand. */
export interface ReceivedBytes {
  readonly sizeBytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

/** Size and digest are those of what was to be written. */
export type PutResult = ReceivedBytes &
  (
    | {
        /** `created`: written now. `reused`: an equal object was there. */
        readonly outcome: 'created' | 'reused';
      }
    | {
        /** A different object stands at the key; nothing was written and the old bytes are untouched. */
        readonly outcome: 'conflict';
        readonly standing: StandingObject;
      }
  );

/** What was in the way of a write. */
export interface StandingObject {
  readonly sizeBytes: number;
  /** Null: the store was told none, and there are too many bytes to be read for it. */
  readonly sha256: string | null;
}

export interface ByteRange {
  readonly start: number;
  /** Inclusive, as in HTTP. */
  readonly end: number;
}

/**
 * Object storage: uploads, raw outputs, derivatives. Never holds status or credits.
 *
 * Contract, checked by test/contract/object-store for every adapter:
 * - Keys are made by the product (`src/domain/output/object-keys.ts`): ASCII letters, digits,
 *   `-_./=`, no empty, `.` or `..` segment. Any other key is refused with `InvalidObjectKeyError`.
 * - Writes are atomic: a reader sees the whole object or none. A stream that fails or ends short
 *   leaves nothing behind, not even a temporary file.
 * - `putStream` never overwrites a different object: see `PutResult.outcome`. It streams with
 *   bounded memory and computes the SHA-256 on the way. With `expected`, a stream whose size or
 *   digest differs is refused with `ObjectMismatchError` and leaves nothing. `onReceived` is told size and digest of a stream
 *   that came whole, once, before anything of it stands at the key; when it fails, nothing is written.
 * - `presignPut` answers a bearer URL for exactly one key, method, length, type and SHA-256, valid
 *   until `expiresAt`. A PUT with other length, type or bytes is refused and stores nothing. A
 *   second PUT of the same bytes is accepted as the same object. PUT of different bytes cannot
 *   happen because the digest is signed.
 * - `presignGet` answers a bearer URL that serves GET with Range until `expiresAt`. HEAD of it is answered by some stores
 *   only: where a signature is for one method, a client asks for the first byte instead.
 *   `presignGetPrefix` answers a base URL (ending in `/`) under which every object whose key
 *   starts with `prefix` can be read by its suffix until `expiresAt` (for HLS playlists whose
 *   segments are relative).
 * - `head` answers null for a missing key, and for an object that a client sent in parts whose bytes nobody has read yet:
 *   `measure` tells of that one too, and `prove` reads it, notes its digest, and answers the head. `copy` is server-side and atomic; it has the outcomes of
 *   `putStream`. `delete` of a missing key succeeds.
 * - `deleteIfOlder` deletes what was last written, or put again with equal bytes, before a time, and answers whether it did.
 *   A put that is answered before or while it runs is never undone by it.
 * - `list` yields keys in ascending order (of their characters) under a prefix, without loading all: those after
 *   `startAfter`, which need not exist, and at most `limit`. Their times may be a second short of what `head` says.
 * - A store that is out of reach throws `ObjectStoreUnavailableError` (retryable).
 */
export interface ObjectStore {
  readonly parts: PartUploads;
  putStream(
    key: string,
    body: Readable,
    options: {
      readonly contentType: string;
      readonly sizeBytesMax: number;
      readonly expected?: { readonly sizeBytes?: number; readonly sha256?: string };
      readonly onReceived?: (received: ReceivedBytes) => Promise<void>;
      readonly signal?: AbortSignal;
    },
  ): Promise<PutResult>;
  getStream(key: string, range?: ByteRange): Promise<{ head: ObjectHead; body: Readable } | null>;
  head(key: string): Promise<ObjectHead | null>;
  measure(key: string): Promise<ListedObject | null>;
  prove(key: string): Promise<ObjectHead | null>;
  copy(fromKey: string, toKey: string): Promise<PutResult>;
  delete(key: string): Promise<void>;
  deleteIfOlder(key: string, modifiedBefore: Date): Promise<boolean>;
  list(
    prefix: string,
    options?: { readonly startAfter?: string; readonly limit?: number },
  ): AsyncIterable<ListedObject>;
  presignPut(
    key: string,
    options: {
      readonly sizeBytes: number;
      readonly sha256: string;
      readonly contentType: string;
      readonly now: Date;
      readonly expiresAt: Date;
    },
  ): Promise<UploadTicket>;
  presignGet(
    key: string,
    options: { readonly now: Date; readonly expiresAt: Date; readonly downloadName?: string },
  ): Promise<string>;
  presignGetPrefix(
    prefix: string,
    options: { readonly now: Date; readonly expiresAt: Date },
  ): Promise<string>;
}

export class InvalidObjectKeyError extends Error {
  readonly code = 'INVALID_OBJECT_KEY';
}

export class ObjectMismatchError extends Error {
  readonly code = 'OBJECT_MISMATCH';
}

/** The object is larger than the given bound; nothing was kept. */
export class ObjectTooLargeError extends Error {
  readonly code = 'OBJECT_TOO_LARGE';
}

export class ObjectStoreUnavailableError extends Error {
  readonly code = 'OBJECT_STORE_UNAVAILABLE';
}
