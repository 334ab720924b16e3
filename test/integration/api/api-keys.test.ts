import { createHash } from 'node:crypto';

import { useApi } from './support/running-api';

const running = useApi();

const CREATE_KEY = `mutation ($input: ApiKeyCreateInput!) {
  apiKeyCreate(input: $input) { apiKey { id name prefix scopes expiresAt } token userErrors { code field } }
}`;

const makeKey = async (input: object = {}, token = running().token) =>
  (
    await running().ask(
      CREATE_KEY,
      { input: { name: 'ci', scopes: ['generations:read'], ...input } },
      { token },
    )
  ).data.apiKeyCreate;

const statusOf = async (token: string): Promise<number> =>
  (await running().ask('{ viewer { scopes } }', {}, { token })).status;

describe('an API key', () => {
  it('is shown once, works, and is kept as a hash only', async () => {
    const { apiKey, token } = await makeKey();
    expect(token).toMatch(/^avk_[0-9a-f]{12}_[A-Za-z0-9_-]{43}$/);
    expect(token.startsWith(apiKey.prefix)).toBe(true);
    const { data } = await running().ask(
      '{ viewer { tenant { status } apiKey { id } scopes } }',
      {},
      { token },
    );
    expect(data.viewer).toEqual({
      tenant: { status: 'ACTIVE' },
      apiKey: { id: apiKey.id },
      scopes: ['generations:read'],
    });
    const { rows } = await running().database.pool.query<{ secret_hash: Buffer; row: string }>(
      'SELECT secret_hash, row_to_json(api_keys)::text AS row FROM api_keys WHERE prefix = $1',
      [apiKey.prefix],
    );
    const secret = token.slice(apiKey.prefix.length + 1);
    expect(rows[0]?.row).not.toContain(secret);
    expect(rows[0]?.secret_hash).toEqual(createHash('sha256').update(secret).digest());
    const listed = await running().ask('{ apiKeys { id prefix } }');
    expect(listed.text).not.toContain(secret);
    expect(listed.data.apiKeys).toContainEqual({ id: apiKey.id, prefix: apiKey.prefix });
  });

  it('with one letter changed is none', async () => {
    const { token } = await makeKey();
    expect(await statusOf(token)).toBe(200);
    const last = token.at(-2) === 'A' ? 'B' : 'A';
    expect(await statusOf(`${token.slice(0, -2)}${last}${token.slice(-1)}`)).toBe(401);
    expect(await statusOf(`${token}x`)).toBe(401);
    expect(await statusOf(token.toUpperCase())).toBe(401);
  });

  it('ends when it is revoked, at once, and a repeat answers the same', async () => {
    const { apiKey, token } = await makeKey();
    expect(await statusOf(token)).toBe(200);
    const revoke = async () =>
      (
        await running().ask(
          'mutation ($input: ApiKeyRevokeInput!) { apiKeyRevoke(input: $input) { apiKey { revokedAt } userErrors { code } } }',
          { input: { apiKeyId: apiKey.id } },
        )
      ).data.apiKeyRevoke;
    const first = await revoke();
    expect(first.apiKey.revokedAt).toEqual(expect.any(String));
    expect(await revoke()).toEqual(first);
    expect(await statusOf(token)).toBe(401);
  });

  it('ends when it expires', async () => {
    const now = running().context.clock.now();
    const issue = (expiresAt: Date) =>
      running().apiKeys.issue({
        tenantId: running().tenantId,
        name: 'x',
        scopes: [],
        expiresAt,
        now,
      });
    const { token } = await issue(new Date(now.getTime() + 1_000));
    const at = (ms: number) => running().apiKeys.authenticate(token, new Date(now.getTime() + ms));
    expect(await at(999)).not.toBeNull();
    expect(await at(1_000)).toBeNull();
  });

  it('gives no scope that its maker lacks, and no unknown one', async () => {
    const { token } = await makeKey({ scopes: ['keys:admin', 'generations:read'] });
    expect(await makeKey({ scopes: ['operator'] }, token)).toMatchObject({
      apiKey: null,
      token: null,
      userErrors: [{ code: 'SCOPE_NOT_GRANTED', field: 'scopes' }],
    });
    expect(await makeKey({ scopes: ['root'] })).toMatchObject({
      userErrors: [{ code: 'SCOPE_UNKNOWN' }],
    });
    expect(await makeKey({ expiresAt: '2020-01-01T00:00:00Z' })).toMatchObject({
      userErrors: [{ code: 'EXPIRY_IN_PAST', field: 'expiresAt' }],
    });
  });

  it('has its last use written at most once a minute', async () => {
    const { apiKeys, context, tenantId, database } = running();
    const now = context.clock.now();
    const { key, token } = await apiKeys.issue({
      tenantId,
      name: 'x',
      scopes: [],
      expiresAt: null,
      now,
    });
    const useAt = async (ms: number): Promise<number> => {
      await apiKeys.authenticate(token, new Date(now.getTime() + ms));
      const { rows } = await database.pool.query<{ last_used_at: Date }>(
        'SELECT last_used_at FROM api_keys WHERE id = $1',
        [key.id],
      );
      return (rows[0]?.last_used_at.getTime() ?? 0) - now.getTime();
    };
    expect(await useAt(0)).toBe(0);
    expect(await useAt(59_000)).toBe(0);
    expect(await useAt(60_000)).toBe(60_000);
  });
});
