import type { UploadTicket } from './upload-ticket';

/** A part that the store has. */
export interface StoredPart {
  /** From 1. */
  readonly number: number;
  readonly sizeBytes: number;
  /** As the answer to its PUT said, quotes included. */
  readonly etag: string;
}

/** An upload in parts that was begun and neither completed nor aborted. */
export interface OpenPartUpload {
  readonly key: string;
  readonly uploadId: string;
  readonly beganAt: Date;
}

export type NamedPart = Pick<StoredPart, 'number' | 'etag'>;

/**
 * `STORED`: the object stands at its key, by this call or by an earlier one whose answer was lost. `MISMATCH`: a part is not
 * there, has another ETag, or is too small to stand before the last. `TAKEN`: another object stands at the key; the parts
 * stay. `GONE`: there is no such upload, and no object of it.
 */
export type PartsOutcome = 'STORED' | 'MISMATCH' | 'TAKEN' | 'GONE';

/**
 * Objects that a client sends in parts, in any order and several at once. Contract, checked by test/contract/object-store for
 * every adapter:
 * - `begin` answers an id; nothing is at the key before `complete`, and parts are in no listing of objects.
 * - `presign` answers a bearer URL for exactly one part, of exactly that length, until `expiresAt`. The answer to the PUT has the
 *   part's ETag, readable by pages of other origins. A part that is sent again replaces the one before. All parts but the last
 *   have one size, of at least 5 MiB; numbers run from 1 to 10,000.
 * - `list` answers the parts that are there, in order of number; null for an upload that is not, or no longer, there.
 * - `complete` puts the named parts together, at once and never over another object. It can be repeated. After it the URLs of
 *   parts lead nowhere. The digest of the whole is known when `ObjectStore.prove` has read it.
 * - `abort` of a key ends every upload in parts that was begun there, of an id that one only. What is not there is no error.
 * - `listOpen` tells which are open below a prefix, in no order.
 */
export interface PartUploads {
  begin(key: string, options: { readonly contentType: string }): Promise<string>;
  presign(
    key: string,
    uploadId: string,
    options: {
      readonly number: number;
      readonly sizeBytes: number;
      readonly now: Date;
      readonly expiresAt: Date;
    },
  ): Promise<UploadTicket>;
  list(key: string, uploadId: string): Promise<readonly StoredPart[] | null>;
  complete(key: string, uploadId: string, parts: readonly NamedPart[]): Promise<PartsOutcome>;
  abort(key: string, uploadId?: string): Promise<void>;
  listOpen(prefix: string): AsyncIterable<OpenPartUpload>;
}
