import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { doctorCommand } from '../../../src/cli/commands/doctor';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { seedCatalog } from '../../support/flow/seed-catalog';

const API_KEY = 'a-key-of-16-chars-or-more';
const NOWHERE = '127.0.0.1:1';

let database: TestDatabase;
let provider: Server;
let providerUrl: string;
let dataDir: string;
const before = { ...process.env };

beforeAll(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'aivedio-doctor-'));
  provider = createServer((request, response) => {
    response.statusCode = request.headers.authorization === `Bearer ${API_KEY}` ? 404 : 401;
    response.end('{}');
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  providerUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  await seedCatalog(
    database.pool,
    { sandboxUrl: providerUrl, accountConcurrentMax: 4, undecidablePolicy: 'EXPIRE' },
    new Date(),
  );
}, 60_000);

afterEach(() => {
  process.env = { ...before };
});

afterAll(async () => {
  await database.drop();
  await new Promise((resolve) => provider.close(resolve));
  await rm(dataDir, { recursive: true, force: true });
}, 60_000);

const examine = async (changes: Readonly<Record<string, string>>) => {
  Object.assign(process.env, {
    AIVEDIO_DATABASE_URL: database.url,
    AIVEDIO_DATA_DIR: dataDir,
    AIVEDIO_SIGNING_SECRET: 'A'.repeat(43),
    AIVEDIO_SANDBOX_URL: providerUrl,
    AIVEDIO_SANDBOX_API_KEY: API_KEY,
    AIVEDIO_SANDBOX_WEBHOOK_SECRET: 'whsec_AAAA',
    ...changes,
  });
  const lines: string[] = [];
  const code = await doctorCommand.run([], (line) => lines.push(line));
  return { code, lines, text: lines.join('\n') };
};

describe('the doctor of a deployment', () => {
  it('finds every part of a right one', async () => {
    const { code, lines, text } = await examine({});
    expect(text).not.toContain('WRONG');
    expect(code).toBe(0);
    const asked = lines.map((line) => /^ok {5}([a-z -]+)/.exec(line)?.[1]).filter(Boolean);
    expect(asked).toEqual(
      expect.arrayContaining([
        ...['configuration', 'database', 'migrations', 'objects', 'media-tools', 'clock'],
        'provider sandbox',
      ]),
    );
  }, 60_000);

  it('says each wrong credential and endpoint with its variable, and no secret', async () => {
    const { code, text } = await examine({
      AIVEDIO_SANDBOX_API_KEY: 'another-key-of-16-chars',
      AIVEDIO_REDIS_URL: `redis://:hidden@${NOWHERE}`,
      AIVEDIO_FFMPEG: '/nowhere/ffmpeg',
      AIVEDIO_OBJECT_STORE: 's3',
      AIVEDIO_S3_ENDPOINT: `http://${NOWHERE}`,
      AIVEDIO_S3_BUCKET: 'aivedio',
      AIVEDIO_S3_ACCESS_KEY_ID: 'hidden-id',
      AIVEDIO_S3_SECRET_ACCESS_KEY: 'hidden-secret',
    });
    expect(code).toBe(1);
    expect(text).toMatch(/^ok {5}database/m);
    expect(text).toMatch(
      new RegExp(
        `^WRONG {2}provider sandbox: ${providerUrl}: HTTP_401; .*AIVEDIO_SANDBOX_API_KEY`,
        'm',
      ),
    );
    expect(text).toMatch(/^WRONG {2}redis: .*127\.0\.0\.1:1.*AIVEDIO_REDIS_URL/m);
    expect(text).toMatch(/^WRONG {2}objects: .*AIVEDIO_S3_ENDPOINT/m);
    expect(text).toMatch(/^WRONG {2}media-tools: .*AIVEDIO_FFMPEG/m);
    expect(text).not.toMatch(/hidden|another-key/);
  }, 60_000);

  it.each([
    ['endpoint', (url: URL) => (url.host = NOWHERE), /ECONNREFUSED.*host and port/],
    ['password', (url: URL) => (url.password = 'hidden'), /password.*role and password/],
  ])(
    'says a wrong %s of the database once',
    async (_what, spoil, said) => {
      const url = new URL(database.url);
      spoil(url);
      const { code, lines, text } = await examine({ AIVEDIO_DATABASE_URL: url.href });
      expect(code).toBe(1);
      const wrong = lines.filter((line) => line.startsWith('WRONG'));
      expect(wrong).toEqual([expect.stringMatching(/^WRONG {2}database: .*AIVEDIO_DATABASE_URL/)]);
      expect(wrong[0]).toMatch(said);
      expect(text).not.toContain('hidden');
    },
    60_000,
  );

  it('lists every problem of a configuration, and asks nothing', async () => {
    const { code, lines } = await examine({ AIVEDIO_HTTP_PORT: 'high', AIVEDIO_SLOTS: 'paper' });
    expect(code).toBe(2);
    expect(lines).toEqual([
      expect.stringContaining('AIVEDIO_SLOTS'),
      expect.stringContaining('AIVEDIO_HTTP_PORT'),
    ]);
  });
});
