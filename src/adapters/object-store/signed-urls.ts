import { isSignedBy, signGrant, type Grant } from './url-signature';

/**
 * The URLs of the disk store, below the place where its routes are mounted:
 *
 * - `o/<key>?expires&size&sha256&type&signature` for PUT,
 * - `o/<key>?expires&upload&part&size&signature` for PUT of one part,
 * - `o/<key>?expires[&download]&signature` for GET and HEAD,
 * - `p/<token>/<suffix>` for GET and HEAD of all objects under a prefix; the token stands in the
 *   path so that relative links of a playlist keep it.
 */
export function buildPutUrl(
  base: string,
  signingKey: Buffer,
  grant: Extract<Grant, { method: 'PUT' }>,
): string {
  return buildObjectUrl(base, grant.key, {
    expires: String(grant.expiresAtMs),
    size: String(grant.sizeBytes),
    sha256: grant.sha256,
    type: grant.contentType,
    signature: signGrant(signingKey, grant),
  });
}

export function buildPartUrl(
  base: string,
  signingKey: Buffer,
  grant: Extract<Grant, { method: 'PUT_PART' }>,
): string {
  return buildObjectUrl(base, grant.key, {
    expires: String(grant.expiresAtMs),
    upload: grant.uploadId,
    part: String(grant.number),
    size: String(grant.sizeBytes),
    signature: signGrant(signingKey, grant),
  });
}

export function buildGetUrl(
  base: string,
  signingKey: Buffer,
  grant: Extract<Grant, { method: 'GET' }>,
): string {
  return buildObjectUrl(base, grant.key, {
    expires: String(grant.expiresAtMs),
    ...(grant.downloadName === null ? {} : { download: grant.downloadName }),
    signature: signGrant(signingKey, grant),
  });
}

export function buildPrefixUrl(
  base: string,
  signingKey: Buffer,
  grant: Extract<Grant, { method: 'GET_PREFIX' }>,
): string {
  const claims = Buffer.from(JSON.stringify([grant.prefix, grant.expiresAtMs])).toString(
    'base64url',
  );
  return `${trimSlash(base)}/p/${claims}.${signGrant(signingKey, grant)}/`;
}

/** The grant of a PUT URL, or null when the signature does not fit. */
export function parsePut(
  signingKey: Buffer,
  key: string,
  query: URLSearchParams,
): Extract<Grant, { method: 'PUT' }> | null {
  const grant = {
    method: 'PUT',
    key,
    expiresAtMs: Number(query.get('expires')),
    sizeBytes: Number(query.get('size')),
    sha256: query.get('sha256') ?? '',
    contentType: query.get('type') ?? '',
  } as const;
  return isSignedBy(signingKey, grant, query.get('signature') ?? '') ? grant : null;
}

export function parsePart(
  signingKey: Buffer,
  key: string,
  query: URLSearchParams,
): Extract<Grant, { method: 'PUT_PART' }> | null {
  const grant = {
    method: 'PUT_PART',
    key,
    expiresAtMs: Number(query.get('expires')),
    uploadId: query.get('upload') ?? '',
    number: Number(query.get('part')),
    sizeBytes: Number(query.get('size')),
  } as const;
  return isSignedBy(signingKey, grant, query.get('signature') ?? '') ? grant : null;
}

export function parseGet(
  signingKey: Buffer,
  key: string,
  query: URLSearchParams,
): Extract<Grant, { method: 'GET' }> | null {
  const grant = {
    method: 'GET',
    key,
    expiresAtMs: Number(query.get('expires')),
    downloadName: query.get('download'),
  } as const;
  return isSignedBy(signingKey, grant, query.get('signature') ?? '') ? grant : null;
}

export function parsePrefixToken(
  signingKey: Buffer,
  token: string,
): Extract<Grant, { method: 'GET_PREFIX' }> | null {
  const [claims = '', signature = ''] = token.split('.');
  const [prefix, expiresAtMs] = parseClaims(claims);
  if (typeof prefix !== 'string' || typeof expiresAtMs !== 'number') return null;
  const grant = { method: 'GET_PREFIX', prefix, expiresAtMs } as const;
  return isSignedBy(signingKey, grant, signature) ? grant : null;
}

function parseClaims(claims: string): unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'));
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    // Not one of our tokens; the caller refuses it like any other bad signature.
    return [];
  }
}

/** Keys need no escaping: their characters are all plain in a path. */
function buildObjectUrl(base: string, key: string, query: Record<string, string>): string {
  return `${trimSlash(base)}/o/${key}?${new URLSearchParams(query).toString()}`;
}

function trimSlash(base: string): string {
  return base.replace(/\/+$/, '');
}
