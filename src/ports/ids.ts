/**
 * Identifiers. All rows are keyed by UUIDv7 (sortable, the first 48 bits are the Unix time in
 * milliseconds), made by the product and not by the database, so that a test can seed them.
 */
export interface IdSource {
  /** A fresh UUIDv7 in the ordinary 36-character form, stamped with `at`. */
  next(at: Date): string;
  /** A fresh secret of `bytes` random bytes, base64url without padding. Never logged. */
  secret(bytes: number): string;
}
