import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

import {
  GetBucketCorsCommand,
  PutBucketCorsCommand,
  type CORSRule,
  type LifecycleRule,
} from '@aws-sdk/client-s3';

import { startVersitygw, type Versitygw } from '../../../cluster/servers/versitygw';
import {
  judgeCors,
  unfinishedDays,
  withCors,
  withUnfinishedRule,
} from '../../../src/adapters/object-store/s3/bucket-rules';
import {
  createBucket,
  examineBucket,
  type BucketQuestion,
  type BucketVerdict,
} from '../../../src/adapters/object-store/s3/examine-bucket';
import { openS3Clients, type S3Settings } from '../../../src/adapters/object-store/s3/s3-client';
import { createIdSource } from '../../../src/adapters/ids/uuid-ids';
import { storageCommand } from '../../../src/cli/commands/storage';
import { ConfigError, readConfig } from '../../../src/runtime/config';
import { freePort } from '../../../src/runtime/free-port';
import { createHealthChecks } from '../../../src/runtime/health/health-checks';
import { wireObjects } from '../../../src/runtime/wire/wire-objects';
import { describeIfAvailable } from '../../support/requirements';
import { createRecordingLog } from '../recording-log';
import { BUILD_MS } from './start-s3-store';

jest.setTimeout(60_000);

const ORIGIN = 'https://videos.example';
const BUCKET = 'pictures';

describeIfAvailable('go', 'a look at a bucket', () => {
  let dir: string;
  let server: Versitygw;
  let settings: S3Settings;
  let requests = 0;

  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 's3-look-'));
    server = await startVersitygw({ dir, bucket: null });
    settings = {
      ...{ endpoint: server.url, publicEndpoint: null, region: server.region, bucket: BUCKET },
      ...{ accessKeyId: server.accessKeyId, secretAccessKey: server.secretAccessKey },
      ...{ addressing: 'path', encryption: null },
    };
    await server.createBucket('bare', { cors: false });
  }, BUILD_MS);
  afterAll(async () => {
    requests = await server.countRequests();
    process.stdout.write(`versitygw has answered ${requests} requests of looks at buckets\n`);
    await server.stop();
    await rm(dir, { recursive: true, force: true });
    expect(requests).toBeGreaterThan(20);
  });

  const question = (wrong: Partial<S3Settings> = {}, aheadMs = 0): BucketQuestion => ({
    settings: { ...settings, ...wrong },
    origin: ORIGIN,
    clock: { now: () => new Date(Date.now() + aheadMs) },
    thorough: true,
  });
  const only = ({ problems }: BucketVerdict) => {
    expect(problems).toHaveLength(1);
    return problems[0];
  };

  it('says that nothing answers at the endpoint, and that this may pass', async () => {
    const endpoint = `http://127.0.0.1:${await freePort('127.0.0.1', 0)}`;
    const problem = only(await examineBucket(question({ endpoint })));
    expect(problem).toMatchObject({ variable: 'AIVEDIO_S3_ENDPOINT', kind: 'AWAY' });
    expect(problem?.says).toContain(`${endpoint} does not answer (ECONNREFUSED)`);
  });

  it.each([
    ['a page', 200, '<!doctype html><html><body>hello</body></html>'],
    ['an empty answer', 204, ''],
    ['a page that is not found', 404, 'Not found'],
  ])('tells a server that answers with %s from one that speaks S3', async (_, status, text) => {
    const other = createServer((_request, answer) => {
      answer.writeHead(status, { 'content-type': 'text/html' }).end(text);
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const problem = only(await examineBucket(question({ endpoint })));
    other.closeAllConnections();
    await new Promise((resolve) => other.close(resolve));
    expect(problem).toMatchObject({ variable: 'AIVEDIO_S3_ENDPOINT', kind: 'REFUSED' });
    expect(problem?.says).toContain('does not speak S3');
    expect(problem?.says).not.toContain('\n');
  });

  it.each([
    ['a wrong secret', { secretAccessKey: 'x'.repeat(24) }, 'AIVEDIO_S3_SECRET_ACCESS_KEY'],
    ['an unknown key', { accessKeyId: 'nobody' }, 'AIVEDIO_S3_ACCESS_KEY_ID'],
    ['another region', { region: 'eu-central-1' }, 'AIVEDIO_S3_REGION'],
    ['a bucket that is not there', { bucket: 'nowhere' }, 'AIVEDIO_S3_BUCKET'],
  ] as const)('names the variable of %s', async (_, wrong, variable) => {
    const problem = only(await examineBucket(question({ bucket: 'bare', ...wrong })));
    expect(problem).toEqual({
      variable,
      kind: 'REFUSED',
      says: expect.stringContaining(server.url),
    });
    expect(problem?.says).not.toContain('x'.repeat(24));
  });

  it.each([
    [20 * 60_000, 'REFUSED'],
    [-20 * 60_000, 'REFUSED'],
    [2 * 60_000, 'LACKS'],
  ] as const)('notices a clock that is %d ms off', async (aheadMs, kind) => {
    const { problems } = await examineBucket(question({ bucket: 'bare' }, aheadMs));
    expect(problems.find(({ says }) => says.includes('NTP'))).toMatchObject({ kind });
  });

  it('says which rules a bare bucket lacks, and that this server has no rules for leftovers', async () => {
    const verdict = await examineBucket(question({ bucket: 'bare' }));
    const problem = only(verdict);
    expect(problem).toMatchObject({ variable: 'AIVEDIO_S3_BUCKET', kind: 'LACKS' });
    expect(problem?.says).toContain(`has no CORS rule for pages of ${ORIGIN}`);
    expect(verdict.notes.join('\n')).toContain('the product sweeps unfinished uploads itself');
    expect(verdict.notes.join('\n')).toContain('encryption');
  });

  it('makes the bucket with CORS that browsers accept, and again without harm', async () => {
    expect(await createBucket(question())).toMatchObject({ problems: [] });
    expect(await createBucket(question())).toMatchObject({ problems: [] });
    expect(await examineBucket(question())).toMatchObject({ problems: [] });
    const ask = (origin: string, method: string) =>
      fetch(`${server.url}/${BUCKET}/clip.mp4`, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': method,
          'access-control-request-headers': 'content-type,x-amz-checksum-sha256,x-amz-meta-sha256',
        },
      });
    for (const method of ['GET', 'HEAD', 'PUT']) {
      const answer = await ask(ORIGIN, method);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN);
      expect(answer.headers.get('access-control-expose-headers')).toMatch(/etag.*content-range/i);
    }
    expect((await ask('https://elsewhere.example', 'PUT')).status).toBe(403);
  });

  it('keeps the CORS rules of others, and sets its own right', async () => {
    await server.createBucket('shared', { cors: false });
    const clients = openS3Clients(settings);
    const theirs = { AllowedOrigins: ['https://theirs.example'], AllowedMethods: ['GET'] };
    const stale = { ID: 'aivedio-pages', AllowedOrigins: [ORIGIN], AllowedMethods: ['GET'] };
    await clients.inside.send(
      new PutBucketCorsCommand({
        Bucket: 'shared',
        CORSConfiguration: { CORSRules: [theirs, stale] },
      }),
    );
    const before = only(await examineBucket(question({ bucket: 'shared' })));
    expect(before?.says).toContain('has CORS that lets GET not send content-type');
    expect(await createBucket(question({ bucket: 'shared' }))).toMatchObject({ problems: [] });
    const { CORSRules } = await clients.inside.send(new GetBucketCorsCommand({ Bucket: 'shared' }));
    clients.close();
    expect(CORSRules?.map(({ AllowedOrigins }) => AllowedOrigins)).toEqual([
      [ORIGIN],
      theirs.AllowedOrigins,
    ]);
  });

  describe('at the start of a process', () => {
    const start = async (wrong: Readonly<Record<string, string>>) => {
      const health = createHealthChecks();
      const log = createRecordingLog();
      const stored = wireObjects({
        config: readConfig({ ...server.env, AIVEDIO_PUBLIC_URL: ORIGIN, ...wrong }),
        secrets: {
          ...{ databaseUrl: '', databaseDirectUrl: '', sandbox: null },
          signingSecret: 'a'.repeat(43),
        },
        clock: { now: () => new Date() },
        ids: createIdSource(),
        ...{ log, health },
      });
      try {
        await stored.checkAtStart();
        return { warnings: log.lines, status: (await health.read()).status };
      } finally {
        await stored.close();
      }
    };

    it.each([
      ['AIVEDIO_S3_SECRET_ACCESS_KEY', 'wrong'],
      ['AIVEDIO_S3_BUCKET', 'nowhere'],
    ])('refuses to begin with a wrong %s, in a line that names it', async (variable, value) => {
      const refusal = await start({ AIVEDIO_S3_BUCKET: 'bare', [variable]: value }).then(
        () => null,
        (error: unknown) => error,
      );
      expect(refusal).toBeInstanceOf(ConfigError);
      expect((refusal as ConfigError).problems).toEqual([
        expect.stringMatching(new RegExp(`^${variable}: ${server.url} .*; put in`)),
      ]);
    });

    it('begins without the server, with one warning, and is not ready', async () => {
      const endpoint = `http://127.0.0.1:${await freePort('127.0.0.1', 0)}`;
      const { warnings, status } = await start({ AIVEDIO_S3_ENDPOINT: endpoint });
      expect(warnings).toHaveLength(1);
      expect(JSON.stringify(warnings)).toContain(
        `AIVEDIO_S3_ENDPOINT: ${endpoint} does not answer`,
      );
      expect(status).toBe('not ready');
    });

    it('begins without CORS, with a warning, and says nothing when all is right', async () => {
      const bare = await start({ AIVEDIO_S3_BUCKET: 'bare' });
      expect(JSON.stringify(bare.warnings)).toContain('has no CORS rule');
      expect(bare.status).toBe('ready');
      await createBucket(question());
      expect(await start({ AIVEDIO_S3_BUCKET: BUCKET })).toEqual({ warnings: [], status: 'ready' });
    });
  });

  describe('by the command', () => {
    const given = { ...process.env };
    afterEach(() => {
      process.env = { ...given };
    });
    const run = async (verb: string, env: Readonly<Record<string, string>> = {}) => {
      Object.assign(process.env, server.env, { AIVEDIO_PUBLIC_URL: ORIGIN }, env);
      const lines: string[] = [];
      const code = await storageCommand.run([verb], (line) => lines.push(line));
      return { code, text: lines.join('\n') };
    };

    it('answers 1 for what is missing, 0 once it is made, 2 when it could not look', async () => {
      const bucket = { AIVEDIO_S3_BUCKET: 'by-command' };
      const missing = await run('check', bucket);
      expect(missing.text).toContain('WRONG    AIVEDIO_S3_BUCKET: ');
      expect(missing.code).toBe(1);
      expect((await run('check', { AIVEDIO_S3_BUCKET: 'bare' })).code).toBe(1);
      expect(await run('create', bucket)).toMatchObject({ code: 0 });
      const made = await run('check', bucket);
      expect(made.text).toContain(`ok       CORS lets pages of ${ORIGIN} upload and play`);
      expect(made.code).toBe(0);
      const wrongSecret = { ...bucket, AIVEDIO_S3_SECRET_ACCESS_KEY: 'wrong' };
      expect(await run('check', wrongSecret)).toMatchObject({ code: 2 });
      expect(await run('create', wrongSecret)).toMatchObject({ code: 2 });
    });

    it('has nothing to say of a folder', async () => {
      expect(await run('check', { AIVEDIO_OBJECT_STORE: 'disk' })).toMatchObject({ code: 0 });
    });
  });
});

describe('rules of a bucket', () => {
  const cors = (over: object = {}) => [{ ...withCors([], ORIGIN)[0], ...over }] as CORSRule[];

  it.each<[string, object, readonly string[]]>([
    ['its own rule', {}, []],
    ['a rule for everybody', { AllowedOrigins: ['*'] }, []],
    ['a rule for a family of hosts', { AllowedOrigins: ['https://*.example'] }, []],
    ['a rule for others', { AllowedOrigins: ['https://*.else'] }, ['GET', 'HEAD', 'PUT']],
    ['no uploads', { AllowedMethods: ['GET', 'HEAD'] }, ['allows no PUT']],
    ['no headers', { AllowedHeaders: [] }, ['x-amz-checksum-sha256', 'not send', 'PUT']],
    ['nothing exposed', { ExposeHeaders: ['etag'] }, ['Content-Range', 'to GET', 'to PUT']],
  ])('judges %s', (_, over, lacks) => {
    const found = judgeCors(cors(over), ORIGIN);
    expect(found.length === 0).toBe(lacks.length === 0);
    for (const each of lacks) expect(found.join('\n')).toContain(each);
  });

  it('goes by the first rule that fits, as browsers are answered', () => {
    const narrow = cors({ AllowedHeaders: [] });
    expect(judgeCors([...narrow, ...cors()], ORIGIN)).not.toEqual([]);
    expect(judgeCors(withCors(narrow, ORIGIN), ORIGIN)).toEqual([]);
  });

  it('counts only rules for unfinished uploads of the whole bucket, and adds its own to those of others', () => {
    const theirs: LifecycleRule[] = [
      { ID: 'a', Status: 'Enabled', Filter: { Prefix: 'logs/' }, ...aborting(1) },
      { ID: 'b', Status: 'Disabled', Filter: { Prefix: '' }, ...aborting(2) },
      { ID: 'c', Status: 'Enabled', Filter: { Tag: { Key: 'k', Value: 'v' } }, ...aborting(3) },
      { ID: 'd', Status: 'Enabled', Filter: {}, Expiration: { Days: 4 } },
    ];
    expect(unfinishedDays(theirs)).toBeNull();
    const both = withUnfinishedRule(withUnfinishedRule(theirs));
    expect(both.slice(0, 4)).toEqual(theirs);
    expect(both).toHaveLength(5);
    expect(unfinishedDays(both)).toBe(7);
    expect(unfinishedDays([{ Status: 'Enabled', ...aborting(9) }])).toBe(9);
  });
});

const aborting = (days: number) => ({
  AbortIncompleteMultipartUpload: { DaysAfterInitiation: days },
});
