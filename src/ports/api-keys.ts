export const API_SCOPES = [
  'assets:write',
  'generations:write',
  'generations:read',
  'ledger:read',
  'keys:admin',
  'operator',
] as const;
/** What a key may do. `operator` acts across tenants: docs/operating.md says how. */
export type ApiScope = (typeof API_SCOPES)[number];

/** A key as it may be shown: without its secret, which only its issue answers, once. */
export interface ApiKey {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  /** The visible part, `avk_` and 12 letters: enough to recognise a key, worthless without the rest. */
  readonly prefix: string;
  readonly scopes: readonly ApiScope[];
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** To the minute. */
  readonly lastUsedAt: Date | null;
  readonly createdAt: Date;
}

/** Who makes a request. */
export interface Principal {
  readonly keyId: string;
  readonly tenantId: string;
  readonly scopes: readonly ApiScope[];
}

/**
 * Keys of partners and of the first start: `avk_<prefix>_<secret>`.
 *
 * Contract, checked by test/integration/api/api-keys.test.ts:
 * - Only a hash of the secret is kept. `issue` answers the token; nothing answers it again.
 * - `authenticate` answers null for anything but the exact token of a key that is neither revoked nor expired; how
 *   long it takes says nothing about the secret. An answer may be up to 2 s old, except that a revocation by the same
 *   object counts at once.
 * - `revoke` keeps the first time; null when the tenant has no such key.
 * - Throws `DatabaseUnavailableError` when the database is out of reach.
 */
export interface ApiKeys {
  issue(input: {
    readonly tenantId: string;
    readonly name: string;
    readonly scopes: readonly ApiScope[];
    readonly expiresAt: Date | null;
    readonly now: Date;
  }): Promise<{ readonly key: ApiKey; readonly token: string }>;
  authenticate(token: string, now: Date): Promise<Principal | null>;
  /** Of the given keys, those that may still be used; never from a cache. */
  filterLive(keyIds: readonly string[], now: Date): Promise<ReadonlySet<string>>;
  revoke(tenantId: string, keyId: string, now: Date): Promise<ApiKey | null>;
  /** Newest first, revoked ones included, at most 1,000. */
  list(tenantId: string): Promise<ApiKey[]>;
  read(tenantId: string, keyIds: readonly string[]): Promise<ApiKey[]>;
}
