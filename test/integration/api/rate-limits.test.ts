import type { RateRule } from '../../../src/ports/rate-limits';
import { CREATE, REQUEST, startApi, type RunningApi } from './support/running-api';

const rule = (name: string, pointsMax: number): RateRule => ({ name, pointsMax, windowMs: 60_000 });
const NONE = { requests: null, mutations: null, strangers: null };

let api: RunningApi | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

const VIEWER = '{ viewer { scopes } }';
const cancels = (count: number): string =>
  Array.from(
    { length: count },
    (_, index) => `a${index}: generationCancel(input: { generationId: "gen_none" }) { stopped }`,
  ).join(' ');

describe('a key that asks too often', () => {
  it('is told how much it may, and then to wait', async () => {
    api = await startApi({ rateRules: { ...NONE, requests: rule('requests', 2) } });
    const first = await api.ask(VIEWER);
    expect(first.status).toBe(200);
    expect(first.headers.get('ratelimit-policy')).toBe('"requests";q=2;w=60');
    expect(first.headers.get('ratelimit')).toMatch(/^"requests";r=1;t=\d\d$/);
    await api.ask(VIEWER);
    const refused = await api.ask(VIEWER);
    expect(refused.status).toBe(429);
    expect(refused.data ?? null).toBeNull();
    expect(refused.errors[0]?.extensions).toMatchObject({
      code: 'RATE_LIMITED',
      retryable: true,
      limit: 'requests',
      max: 2,
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50);
    expect(refused.headers.get('ratelimit')).toMatch(/^"requests";r=0;t=\d\d$/);
    const other = await api.tokenOf(api.tenantId);
    expect((await api.ask(VIEWER, {}, { token: other })).status).toBe(200);
  });

  it('is refused on a socket as well', async () => {
    api = await startApi({ rateRules: { ...NONE, requests: rule('requests', 1) } });
    const client = api.socket();
    const ask = () =>
      new Promise<unknown>((resolve) => {
        let last: unknown = null;
        client.subscribe(
          { query: VIEWER },
          { next: (value) => (last = value), error: resolve, complete: () => resolve(last) },
        );
      });
    expect(await ask()).toMatchObject({ data: { viewer: {} } });
    expect(await ask()).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }]);
    await client.dispose();
  });
});

describe('mutations of an account', () => {
  it('count one by one, whatever key and document they come in', async () => {
    api = await startApi({ rateRules: { ...NONE, mutations: rule('mutations', 4) } });
    expect((await api.ask(`mutation { ${cancels(2)} }`)).status).toBe(200);
    expect((await api.ask(VIEWER)).headers.get('ratelimit')).toBeNull();
    const second = await api.tokenOf(api.tenantId);
    const inFragment = `mutation { ...A } fragment A on Mutation { ${cancels(3)} }`;
    const refused = await api.ask(inFragment, {}, { token: second });
    expect(refused.status).toBe(429);
    expect(refused.errors[0]?.extensions).toMatchObject({ code: 'RATE_LIMITED' });
    const other = await api.tokenOf(await api.addTenant());
    expect((await api.ask(`mutation { ${cancels(1)} }`, {}, { token: other })).status).toBe(200);
  });

  it('that are refused write nothing and keep their key free', async () => {
    api = await startApi({ rateRules: { ...NONE, mutations: rule('mutations', 1) } });
    const input = { ...REQUEST, idempotencyKey: 'rate-limited' };
    await api.ask(`mutation { ${cancels(1)} }`);
    expect((await api.ask(CREATE, { input })).status).toBe(429);
    expect(await api.count('generation_tasks')).toBe(0);
    expect(await api.count('credit_ledger')).toBe(1);
  });
});

describe('requests without a valid key', () => {
  it('count by address, and guessing ends in waiting', async () => {
    api = await startApi({ rateRules: { ...NONE, strangers: rule('strangers', 2) } });
    const wrong = { token: 'avk_000000000000_0000000000000000000000000000000000000000000' };
    expect((await api.ask(VIEWER, {}, wrong)).status).toBe(401);
    expect((await api.ask('{ __typename }', {}, { token: null })).status).toBe(200);
    expect((await api.ask(VIEWER, {}, wrong)).status).toBe(429);
    expect((await api.ask(VIEWER)).status).toBe(200);
  });

  it('believe a forwarded address of a trusted proxy only', async () => {
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const body = JSON.stringify({ query: '{ __typename }' });
    const rateRules = { ...NONE, strangers: rule('strangers', 1) };
    api = await startApi({ rateRules });
    expect((await api.post(body, from('10.0.0.1'))).status).toBe(200);
    expect((await api.post(body, from('10.0.0.2'))).status).toBe(429);
    await api.close();
    api = await startApi({ rateRules, trustedProxies: 'loopback' });
    expect((await api.post(body, from('10.0.0.1'))).status).toBe(200);
    expect((await api.post(body, from('10.0.0.2'))).status).toBe(200);
    expect((await api.post(body, from('10.0.0.1'))).status).toBe(429);
  });
});
