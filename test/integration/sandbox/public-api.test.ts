import { readFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { startSandbox, type SandboxProcess } from '../../support/sandbox-process';
import { SandboxClient, type ShownJob } from './sandbox-client';

describe('the public API of the sandbox', () => {
  let sandbox: SandboxProcess;
  let client: SandboxClient;

  beforeAll(async () => {
    sandbox = await startSandbox({ concurrency: 3, args: ['--url-ttl-ms', '60000'] });
    client = new SandboxClient(sandbox);
  }, 60_000);
  afterAll(() => sandbox.stop());

  async function outputUrl(overrides = {}): Promise<string> {
    const id = await client.create(overrides);
    return (await client.reaches(id, 'succeeded')).outputs[0]?.url ?? '';
  }

  it('answers 401 without the key, on every route but a signed output', async () => {
    for (const path of ['/v1/videos', '/v1/invoice', '/_admin/jobs', '/nowhere']) {
      expect((await fetch(sandbox.url + path)).status).toBe(401);
    }
    expect((await fetch(await outputUrl())).status).toBe(200);
  });

  it.each([
    ['broken JSON', '{"model"'],
    ['no prompt', { prompt: '' }],
    ['an unknown model', { model: 'gpt' }],
    ['an impossible duration', { duration_ms: 0 }],
    ['a negative seed', { seed: -1 }],
    ['an aspect ratio it does not have', { aspect_ratio: '3:1' }],
    ['a misspelt fault', { options: { fault: 'anser_lost' } }],
    ['an image URL of another scheme', { image_url: 'file:///etc/passwd' }],
  ])('answers 400 for %s, and makes no job', async (_name, change) => {
    const before = (await sandbox.jobs()).length;
    const answer = await client.post(typeof change === 'string' ? change : client.body(change));
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code: 'invalid_request' } });
    expect(await sandbox.jobs()).toHaveLength(before);
  });

  it('answers 422 for a prompt against its policy', async () => {
    const answer = await client.post(client.body({ prompt: 'a sandbox-policy-refused thing' }));
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ error: { code: 'content_policy' } });
  });

  it('makes two jobs of two equal requests: there is no idempotency key', async () => {
    const body = client.body();
    await client.post(body);
    await client.post(body);
    const jobs = (await sandbox.jobs()).filter((job) => job.request.reference === body.reference);
    expect(jobs).toHaveLength(2);
    expect((await sandbox.requests()).by_reference[body.reference]).toBe(2);
  });

  it('answers 429 with Retry-After beyond its limit, and takes jobs again when one has ended', async () => {
    const hang = { options: { fault: 'hang' } };
    const held = [await client.create(hang), await client.create(hang), await client.create(hang)];
    const refused = await client.post(client.body());
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const account = await (await client.call('/v1/account')).json();
    expect(account).toMatchObject({ limits: { concurrency: 3, in_use: 3 } });
    for (const id of held) await client.cancel(id);
    for (const id of held) await client.reaches(id, 'canceled');
    await client.reaches(await client.create(), 'succeeded');
  });

  it('lists newest first by cursor, each row with reference and callback URL', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.push(await client.create());
    const seen: string[] = [];
    let after = '';
    while (seen.length < 5) {
      const page = (await (await client.call(`/v1/videos?limit=2${after}`)).json()) as {
        data: ShownJob[];
        has_more: boolean;
        last_id: string;
      };
      expect(page.data[0]).toMatchObject({ reference: expect.stringMatching(/^ref-/) });
      expect(page.data[0]).toHaveProperty('callback_url', null);
      seen.push(...page.data.map((job) => job.id));
      after = `&after=${page.last_id}`;
    }
    expect(seen.slice(0, 5)).toEqual(ids.reverse());
    const oldest = (await (await client.call('/v1/videos?order=asc&limit=1')).json()) as {
      data: ShownJob[];
    };
    expect(oldest.data[0]?.id).toBe((await sandbox.jobs())[0]?.id);
    expect((await client.call('/v1/videos?after=vid_none')).status).toBe(400);
  });

  it('serves an output whole, by range and by head, with its length and a strong tag', async () => {
    const url = await outputUrl();
    const whole = await fetch(url);
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect(whole.headers.get('content-length')).toBe(String(bytes.length));
    const etag = whole.headers.get('etag') ?? '';
    expect(etag).toBe(`"${createHash('sha256').update(bytes).digest('hex')}"`);
    const part = await fetch(url, { headers: { range: 'bytes=100-199' } });
    expect(part.status).toBe(206);
    expect(part.headers.get('content-range')).toBe(`bytes 100-199/${bytes.length}`);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(bytes.subarray(100, 200));
    const tail = await fetch(url, { headers: { range: 'bytes=-10', 'if-range': etag } });
    expect(Buffer.from(await tail.arrayBuffer())).toEqual(bytes.subarray(-10));
    const changed = await fetch(url, { headers: { range: 'bytes=5-', 'if-range': '"other"' } });
    expect(changed.status).toBe(200);
    await changed.arrayBuffer();
    const beyond = await fetch(url, { headers: { range: `bytes=${bytes.length}-` } });
    expect(beyond.status).toBe(416);
    const head = await fetch(url, { method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe(String(bytes.length));
  });

  it('refuses an output URL whose signature or time was changed', async () => {
    const url = new URL(await outputUrl());
    url.searchParams.set('expires', String(Date.now() + 10 * 60_000));
    expect((await fetch(url)).status).toBe(403);
    url.search = '';
    expect((await fetch(url)).status).toBe(403);
  });

  it('writes an invoice of what it charged, as JSON lines and as CSV', async () => {
    const reference = 'invoice, "quoted"';
    const from = new Date().toISOString();
    await client.reaches(await client.create({ reference }), 'succeeded');
    const path = `/v1/invoice?from=${from}&to=${new Date(Date.now() + 1000).toISOString()}`;
    const lines = (await (await client.call(path)).text()).trim().split('\n');
    const row = { reference, amount: '0.0100', currency: 'USD' };
    expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual(
      expect.objectContaining(row),
    );
    const csv = await (await client.call(path, { headers: { accept: 'text/csv' } })).text();
    expect(csv.split('\r\n')[0]).toBe('id,job_id,reference,amount,currency,at');
    expect(csv).toContain('"invoice, ""quoted""",0.0100,USD,');
    const before = await client.call(`/v1/invoice?to=${from}`);
    expect(await before.text()).not.toContain('quoted');
    expect((await client.call('/v1/invoice?from=yesterday')).status).toBe(400);
  });

  it('counts creates that it could not read', async () => {
    const before = (await sandbox.requests()).total;
    await client.post('{');
    expect((await sandbox.requests()).total).toBe(before + 1);
  });

  it('keeps its logs as lines that anyone can read', async () => {
    const text = await readFile(`${sandbox.dataDir}/jobs.jsonl`, 'utf8');
    const events = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string });
    expect(events.filter((entry) => entry.event === 'created')).toHaveLength(
      (await sandbox.jobs()).length,
    );
  });
});
