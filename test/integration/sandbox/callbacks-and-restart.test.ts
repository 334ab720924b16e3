import { createHmac } from 'node:crypto';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  startCallbackReceiver,
  type CallbackReceiver,
  type ReceivedCallback,
} from '../../support/callback-receiver';
import { eventually } from '../../support/eventually';
import {
  startSandbox,
  type SandboxOptions,
  type SandboxProcess,
} from '../../support/sandbox-process';
import { SandboxClient } from './sandbox-client';

const started: SandboxProcess[] = [];

async function start(options: SandboxOptions): Promise<SandboxProcess> {
  const sandbox = await startSandbox(options);
  started.push(sandbox);
  return sandbox;
}

/** A test that fails in the middle leaves its sandbox running. */
afterEach(async () => {
  for (const sandbox of started.splice(0)) await sandbox.stop();
});

const BACKOFF = ['--callback-backoff-ms', '20', '--callback-tries', '4'];

describe('callbacks of the sandbox', () => {
  let receiver: CallbackReceiver;
  beforeEach(async () => {
    receiver = await startCallbackReceiver();
  });
  afterEach(() => receiver.close());

  it('signs each try over id, time and raw body, and keeps the id over all tries', async () => {
    const sandbox = await start({ args: BACKOFF });
    let refusals = 2;
    receiver.answerWith(() => (refusals-- > 0 ? 500 : 200));
    await new SandboxClient(sandbox).create({
      callback_url: receiver.url,
      options: { fault: 'callback_only_final' },
    });
    const [record] = await eventually('it is delivered', async () => {
      const records = await sandbox.callbacks();
      return records.length > 0 ? records : null;
    });
    expect(record).toMatchObject({ tries: 3, outcome: 'delivered' });
    expect(receiver.received).toHaveLength(3);
    expect(new Set(receiver.received.map((one) => one.headers['webhook-id'])).size).toBe(1);
    for (const callback of receiver.received) {
      expect(callback.headers['webhook-signature']).toBe(
        signatureOf(callback, sandbox.webhookSecret),
      );
    }
  }, 30_000);

  it('gives up after its tries', async () => {
    const sandbox = await start({ args: BACKOFF });
    receiver.answerWith(() => 503);
    await new SandboxClient(sandbox).create({
      callback_url: receiver.url,
      options: { fault: 'callback_only_final' },
    });
    const [record] = await eventually('it gives up', async () => {
      const records = await sandbox.callbacks();
      return records.length > 0 ? records : null;
    });
    expect(record).toMatchObject({ tries: 4, outcome: 'given_up' });
  }, 30_000);
});

describe('a restart of the sandbox', () => {
  let dataDir: string;
  let receiver: CallbackReceiver;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'aivedio-sandbox-'));
    receiver = await startCallbackReceiver();
  });
  afterEach(async () => {
    await receiver.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('keeps jobs, charges and counts over SIGKILL, and ends what was under way', async () => {
    const first = await start({ dataDir, render: 'real' });
    const client = new SandboxClient(first);
    const done = await client.create({ reference: 'done' });
    await client.reaches(done, 'succeeded');
    const held = await client.create({ options: { fault: 'hang' } });
    await client.reaches(held, 'processing');
    const long = await client.create({ duration_ms: 20_000, resolution: '1080p' });
    await client.reaches(long, 'processing');
    const charges = await first.charges();
    await first.kill();
    // The last thing a killed process wrote may be half a line.
    await appendFile(join(dataDir, 'jobs.jsonl'), '{"event":"chan');

    const second = await start({ dataDir, render: 'real' });
    const again = new SandboxClient(second);
    expect(await second.charges()).toEqual(charges);
    expect((await second.requests()).by_reference).toMatchObject({ done: 1 });
    const job = await again.show(done);
    expect((await fetch(job.outputs[0]?.url ?? '')).status).toBe(200);
    await again.cancel(held);
    await again.reaches(held, 'canceled');
    await again.reaches(long, 'succeeded');
    expect((await second.charges()).filter((charge) => charge.job_id === long)).toHaveLength(1);
    expect(await second.stop()).toBe(0);
    const log = await readFile(join(dataDir, 'jobs.jsonl'), 'utf8');
    expect(
      log
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as unknown),
    ).not.toHaveLength(0);
  }, 90_000);

  it('tells an end again that nobody is known to have heard, and no other', async () => {
    const first = await start({ dataDir, args: ['--callback-backoff-ms', '60000'] });
    receiver.answerWith((callback) => (callback.path === '/deaf' ? 500 : 200));
    const client = new SandboxClient(first);
    for (const path of ['/heard', '/deaf']) {
      const id = await client.create({ callback_url: receiver.url + path });
      await client.reaches(id, 'succeeded');
    }
    await eventually('both ends were told once', () => (endsTold() === 2 ? true : null));
    expect(await first.stop()).toBe(0);
    receiver.answerWith(() => 200);
    await start({ dataDir });
    await eventually('the unheard end is told again', () => (endsTold() === 3 ? true : null));
    const last = receiver.received.at(-1);
    expect(last?.path).toBe('/deaf');
  }, 60_000);

  function endsTold(): number {
    return receiver.received.filter((one) => one.rawBody.includes('video.succeeded')).length;
  }
});

function signatureOf(callback: ReceivedCallback, secret: string): string {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp } = callback.headers;
  return `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(`${id}.${timestamp}.${callback.rawBody.toString('utf8')}`)
    .digest('base64')}`;
}
