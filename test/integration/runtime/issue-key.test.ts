import { execFile } from 'node:child_process';
import path from 'node:path';

import { addTenant, useStores } from '../postgres/fixtures';

const PROGRAM = path.join(__dirname, '../../../dist/src/issue-key.js');

// Each test starts programs, which a busy machine does slowly.
jest.setTimeout(60_000);

const bench = useStores();

/** Runs the program as `npm run key -- …` does; answers what it said and how it ended. */
const issue = (
  ...args: string[]
): Promise<{ readonly code: number; readonly said: string; readonly complained: string }> =>
  new Promise((resolve) => {
    const env = {
      ...process.env,
      AIVEDIO_DATABASE_URL: bench().database.url,
      AIVEDIO_SIGNING_SECRET: 'x'.repeat(43),
    };
    execFile(process.execPath, [PROGRAM, ...args], { env }, (error, said, complained) => {
      resolve({ code: error === null ? 0 : Number(error.code), said, complained });
    });
  });

const keys = () =>
  bench().look('SELECT name, scopes, expires_at IS NOT NULL AS expires FROM api_keys');

describe('npm run key', () => {
  beforeEach(() => addTenant(bench()));

  it('makes a key that cannot act across tenants, and prints it once', async () => {
    const { code, said } = await issue();
    expect({ code, said }).toEqual({
      code: 0,
      said: expect.stringMatching(/^avk_[0-9a-f]{12}_[\w-]{43}\n$/) as string,
    });
    const [key] = await keys();
    expect(key).toMatchObject({ name: 'Made on the machine', expires: true });
    expect(key?.['scopes']).toContain('generations:write');
    expect(key?.['scopes']).not.toContain('operator');
  });

  it('makes one for an operator, or with the scopes that are named', async () => {
    expect((await issue('--operator', '--name', 'On call')).code).toBe(0);
    expect((await issue('--scopes', 'ledger:read', '--name', 'Books')).code).toBe(0);
    expect(await keys()).toEqual([
      expect.objectContaining({
        name: 'On call',
        scopes: expect.arrayContaining(['operator', 'generations:read']) as string[],
      }),
      expect.objectContaining({ name: 'Books', scopes: ['ledger:read'] }),
    ]);
  });

  it('makes a tenant by its name once, with an empty account, and a key of it each time', async () => {
    const [one, other] = await Promise.all([
      issue('--tenant', 'Second studio'),
      issue('--tenant', ' Second studio '),
    ]);
    expect([one.code, other.code]).toEqual([0, 0]);
    expect(
      await bench().look(
        `SELECT a.available_micros::text AS available, a.held_micros::text AS held,
           (SELECT count(*)::int FROM api_keys k WHERE k.tenant_id = t.id) AS keys
         FROM tenants t JOIN accounts a ON a.tenant_id = t.id WHERE t.name = 'Second studio'`,
      ),
    ).toEqual([{ available: '0', held: '0', keys: 2 }]);
  });

  it('explains itself and makes nothing when it is asked for help', async () => {
    expect((await issue('--help')).said).toMatch(/^Usage: npm run key/);
    expect(await keys()).toEqual([]);
  });

  it.each([
    [['--scopes', 'everything'], /no scope everything; there are assets:write/],
    [['--tenant', ' '], /--tenant: a name of 1 to 100 characters/],
    [['--days', '0'], /--days: a whole number from 1 to 3650, not 0/],
    [['--days', '1.5'], /--days/],
    [['--forever'], /Unknown option '--forever'/],
  ])('says what is wrong with %j, and makes nothing', async (args, words) => {
    const { code, complained } = await issue(...args);
    expect(code).toBe(2);
    expect(complained).toMatch(words);
    expect(await keys()).toEqual([]);
  });
});
