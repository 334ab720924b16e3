import { createHash, timingSafeEqual } from 'node:crypto';

import type { ApiKey, ApiKeys, Principal } from '../../ports/api-keys';
import type { IdSource } from '../../ports/ids';
import type { api_keys as ApiKeyRow, PrismaClient } from './generated/client';
import { translateFaults } from './read-model/prisma-errors';

/** A revocation by another process is noticed after this long. */
const CACHE_MS = 2_000;
const CACHED_MAX = 10_000;
const LAST_USE_MS = 60_000;
const LISTED_MAX = 1_000;
const SECRET_BYTES = 32;
const PREFIX_BYTES = 6;

const TOKEN = /^(avk_[0-9a-f]{12})_([A-Za-z0-9_-]{43})$/;

/**
 * SHA-256 once is right here: the secret is 256 random bits, so there is nothing to guess and nothing for a slow
 * password hash to protect; and it runs on every request.
 */
const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

export interface ApiKeysOptions {
  readonly prisma: PrismaClient;
  readonly ids: IdSource;
}

export const createApiKeys = ({ prisma, ids }: ApiKeysOptions): ApiKeys => {
  const cache = createKeyCache();

  const readByPrefix = async (prefix: string, now: Date): Promise<ApiKeyRow | null> => {
    const cached = cache.get(prefix, now);
    if (cached !== null) return cached;
    const row = await prisma.api_keys.findUnique({ where: { prefix } });
    if (row !== null) cache.set(row, now);
    return row;
  };

  return translateFaults<ApiKeys>({
    issue: async ({ tenantId, name, scopes, expiresAt, now }) => {
      const prefix = `avk_${Buffer.from(ids.secret(PREFIX_BYTES), 'base64url').toString('hex')}`;
      const secret = ids.secret(SECRET_BYTES);
      const row = await prisma.api_keys.create({
        data: {
          id: ids.next(now),
          tenant_id: tenantId,
          name,
          prefix,
          secret_hash: new Uint8Array(hashOf(secret)),
          scopes: [...scopes],
          expires_at: expiresAt,
          created_at: now,
        },
      });
      return { key: toKey(row), token: `${prefix}_${secret}` };
    },
    authenticate: async (token, now) => {
      const [, prefix = '', secret = ''] = TOKEN.exec(token) ?? [];
      if (prefix === '') return null;
      const row = await readByPrefix(prefix, now);
      // An unknown prefix costs the same hash and comparison as a known one.
      const isRight = timingSafeEqual(hashOf(secret), row?.secret_hash ?? hashOf(prefix));
      if (row === null || !isRight || !isLive(row, now)) return null;
      await noteUse(prisma, row, now);
      return toPrincipal(row);
    },
    filterLive: async (keyIds, now) => {
      const rows = await prisma.api_keys.findMany({ where: { id: { in: [...keyIds] } } });
      return new Set(rows.filter((row) => isLive(row, now)).map(({ id }) => id));
    },
    revoke: async (tenantId, keyId, now) => {
      await prisma.api_keys.updateMany({
        where: { id: keyId, tenant_id: tenantId, revoked_at: null },
        data: { revoked_at: now },
      });
      const row = await prisma.api_keys.findFirst({ where: { id: keyId, tenant_id: tenantId } });
      if (row === null) return null;
      cache.drop(row.prefix);
      return toKey(row);
    },
    list: async (tenantId) =>
      (
        await prisma.api_keys.findMany({
          where: { tenant_id: tenantId },
          orderBy: { created_at: 'desc' },
          take: LISTED_MAX,
        })
      ).map(toKey),
    read: async (tenantId, keyIds) =>
      (
        await prisma.api_keys.findMany({
          where: { tenant_id: tenantId, id: { in: [...keyIds] } },
        })
      ).map(toKey),
  });
};

const isLive = (row: ApiKeyRow, now: Date): boolean =>
  row.revoked_at === null && (row.expires_at === null || row.expires_at > now);

const toKey = (row: ApiKeyRow): ApiKey => ({
  id: row.id,
  tenantId: row.tenant_id,
  name: row.name,
  prefix: row.prefix,
  scopes: row.scopes as ApiKey['scopes'],
  expiresAt: row.expires_at,
  revokedAt: row.revoked_at,
  lastUsedAt: row.last_used_at,
  createdAt: row.created_at,
});

const toPrincipal = (row: ApiKeyRow): Principal => ({
  keyId: row.id,
  tenantId: row.tenant_id,
  scopes: row.scopes as Principal['scopes'],
});

/** To the minute, and guarded in the WHERE, so that a busy key costs one write a minute over all processes. */
const noteUse = async (prisma: PrismaClient, row: ApiKeyRow, now: Date): Promise<void> => {
  const before = new Date(now.getTime() - LAST_USE_MS);
  if (row.last_used_at !== null && row.last_used_at > before) return;
  row.last_used_at = now;
  await prisma.api_keys.updateMany({
    where: { id: row.id, OR: [{ last_used_at: null }, { last_used_at: { lte: before } }] },
    data: { last_used_at: now },
  });
};

const createKeyCache = () => {
  const rows = new Map<string, { readonly row: ApiKeyRow; readonly until: number }>();
  return {
    get: (prefix: string, now: Date): ApiKeyRow | null => {
      const entry = rows.get(prefix);
      return entry !== undefined && now.getTime() < entry.until ? entry.row : null;
    },
    set: (row: ApiKeyRow, now: Date): void => {
      // Whoever floods it with keys of their own only loses the cache.
      if (rows.size >= CACHED_MAX) rows.clear();
      rows.set(row.prefix, { row, until: now.getTime() + CACHE_MS });
    },
    drop: (prefix: string): void => {
      rows.delete(prefix);
    },
  };
};
