import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a bearer URL allows; every field is signed. */
export type Grant =
  | {
      readonly method: 'PUT';
      readonly key: string;
      readonly expiresAtMs: number;
      readonly sizeBytes: number;
      readonly sha256: string;
      readonly contentType: string;
    }
  | {
      readonly method: 'PUT_PART';
      readonly key: string;
      readonly expiresAtMs: number;
      readonly uploadId: string;
      readonly number: number;
      readonly sizeBytes: number;
    }
  | {
      readonly method: 'GET';
      readonly key: string;
      readonly expiresAtMs: number;
      readonly downloadName: string | null;
    }
  | { readonly method: 'GET_PREFIX'; readonly prefix: string; readonly expiresAtMs: number };

/** HMAC-SHA256 over the whole grant, base64url. */
export function signGrant(signingKey: Buffer, grant: Grant): string {
  return createHmac('sha256', signingKey).update(canonicalText(grant)).digest('base64url');
}

/** Compared in constant time; a signature of another length is no signature. */
export function isSignedBy(signingKey: Buffer, grant: Grant, signature: string): boolean {
  const expected = Buffer.from(signGrant(signingKey, grant), 'latin1');
  const given = Buffer.from(signature, 'latin1');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** JSON of a fixed list: no field can run into the next, whatever characters it holds. */
function canonicalText(grant: Grant): string {
  switch (grant.method) {
    case 'PUT':
      return JSON.stringify([
        ...['v1', 'PUT', grant.key, grant.expiresAtMs],
        ...[grant.sizeBytes, grant.sha256, grant.contentType],
      ]);
    case 'PUT_PART':
      return JSON.stringify([
        ...['v1', 'PUT_PART', grant.key, grant.expiresAtMs],
        ...[grant.uploadId, grant.number, grant.sizeBytes],
      ]);
    case 'GET':
      return JSON.stringify(['v1', 'GET', grant.key, grant.expiresAtMs, grant.downloadName]);
    case 'GET_PREFIX':
      return JSON.stringify(['v1', 'GET_PREFIX', grant.prefix, grant.expiresAtMs]);
  }
}
