import { FAULTS } from '../../../sandbox/faults';
import { startCallbackReceiver, type CallbackReceiver } from '../../support/callback-receiver';
import { eventually } from '../../support/eventually';
import { startSandbox, type SandboxProcess } from '../../support/sandbox-process';
import { SandboxClient, type CreateBody, type ShownJob } from './sandbox-client';

/** Each fault by its name; a fault without a test here fails the last test of this file. */
const tested = new Set<string>();

describe('faults of the sandbox', () => {
  let sandbox: SandboxProcess;
  let client: SandboxClient;
  let receiver: CallbackReceiver;

  beforeAll(async () => {
    sandbox = await startSandbox({ concurrency: 100, args: ['--callback-backoff-ms', '20'] });
    client = new SandboxClient(sandbox);
    receiver = await startCallbackReceiver();
  }, 60_000);
  afterAll(async () => {
    await sandbox.stop();
    await receiver.close();
  });

  function fault(names: string | string[], run: () => Promise<void>): void {
    for (const name of [names].flat()) tested.add(name);
    it([names].flat().join(', '), run, 30_000);
  }

  const options = (name: string, params: CreateBody = {}): CreateBody => ({
    options: { fault: name, ...params },
  });

  /** A create whose callbacks are told apart by their path. */
  function withCallback(body: CreateBody): CreateBody & { reference: string; path: string } {
    const full = client.body(body);
    const path = `/${full.reference}`;
    return { ...full, callback_url: receiver.url + path, path };
  }

  function toldStatuses(path: string): string[] {
    return receiver.received
      .filter((callback) => callback.path === path)
      .map(
        (callback) =>
          (JSON.parse(callback.rawBody.toString('utf8')) as { data: ShownJob }).data.status,
      );
  }

  async function jobOf(reference: string) {
    return (await sandbox.jobs()).find((job) => job.request.reference === reference);
  }

  /** Waits until no callback of this path can still be on its way. */
  async function settled(reference: string, closed: number): Promise<void> {
    const id = (await jobOf(reference))?.id ?? '';
    await eventually('its callbacks are closed', async () => {
      const records = await sandbox.callbacks();
      return records.filter((record) => record.webhook_id.includes(id)).length >= closed || null;
    });
  }

  fault('answer_lost', async () => {
    const body = client.body(options('answer_lost'));
    await expect(client.post(body)).rejects.toThrow();
    expect(await jobOf(body.reference)).toBeDefined();
  });

  fault('not_created_lost', async () => {
    const body = client.body(options('not_created_lost'));
    await expect(client.post(body)).rejects.toThrow();
    expect(await jobOf(body.reference)).toBeUndefined();
    expect((await sandbox.requests()).by_reference[body.reference]).toBe(1);
  });

  fault('answer_cut', async () => {
    const body = client.body(options('answer_cut'));
    const answer = await client.post(body);
    expect(answer.status).toBe(202);
    await expect(answer.text()).rejects.toThrow();
    expect(await jobOf(body.reference)).toBeDefined();
  });

  fault(['answer_502', 'answer_504', 'answer_no_id'], async () => {
    for (const [name, status] of Object.entries({
      answer_502: 502,
      answer_504: 504,
      answer_no_id: 202,
    })) {
      const body = client.body(options(name));
      const answer = await client.post(body);
      expect(answer.status).toBe(status);
      expect(await answer.text()).not.toContain('vid_');
      await eventually('the job ends', async () =>
        (await jobOf(body.reference))?.status === 'succeeded' ? true : null,
      );
    }
  });

  fault('reject_422_charged', async () => {
    const body = client.body(options('reject_422_charged'));
    const answer = await client.post(body);
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ cost: { amount: '0.0100', currency: 'USD' } });
    expect(await jobOf(body.reference)).toBeUndefined();
    const charges = (await sandbox.charges()).filter((one) => one.reference === body.reference);
    expect(charges).toMatchObject([{ job_id: null, amount: '0.0100' }]);
  });

  it.each([400, 401, 402, 403, 422, 429, 500, 503, 507])('reject_%i', async (status) => {
    const body = client.body(options(`reject_${status}`));
    const answer = await client.post(body);
    expect(answer.status).toBe(status);
    expect(answer.headers.has('retry-after')).toBe(status === 429 || status === 503);
    expect(await jobOf(body.reference)).toBeUndefined();
  });

  fault(['slow', 'slow_create'], async () => {
    const slow = client.body(options('slow', { slow_ms: 300 }));
    const answer = client.post(slow);
    await eventually('the job is there before the answer', () => jobOf(slow.reference));
    expect((await answer).status).toBe(202);
    const abandoned = client.body(options('slow_create', { slow_ms: 200 }));
    await expect(
      client.call('/v1/videos', {
        method: 'POST',
        body: JSON.stringify(abandoned),
        signal: AbortSignal.timeout(100),
      }),
    ).rejects.toThrow();
    expect(await jobOf(abandoned.reference)).toBeUndefined();
    await eventually('it is created and run all the same', async () =>
      (await jobOf(abandoned.reference))?.status === 'succeeded' ? true : null,
    );
  });

  fault('callback_twice', async () => {
    const body = withCallback(options('callback_twice', { times: 5 }));
    await client.post(body);
    await settled(body.reference, 6);
    expect(toldStatuses(body.path)).toEqual(['processing', ...Array<string>(5).fill('succeeded')]);
    const ids = receiver.received
      .filter((callback) => callback.path === body.path)
      .map((callback) => callback.headers['webhook-id']);
    expect(new Set(ids.slice(1)).size).toBe(1);
  });

  fault('callback_out_of_order', async () => {
    const body = withCallback(options('callback_out_of_order'));
    await client.post(body);
    await settled(body.reference, 2);
    expect(toldStatuses(body.path)).toEqual(['succeeded', 'processing']);
  });

  fault(['callback_never', 'callback_only_final'], async () => {
    const never = withCallback(options('callback_never'));
    const final = withCallback(options('callback_only_final'));
    await client.post(never);
    await client.post(final);
    await settled(final.reference, 1);
    expect(toldStatuses(final.path)).toEqual(['succeeded']);
    expect(toldStatuses(never.path)).toEqual([]);
    expect(await jobOf(never.reference)).toMatchObject({ status: 'succeeded' });
  });

  fault('callback_before_answer', async () => {
    const body = withCallback(options('callback_before_answer'));
    let toldAtAnswer: string[] = [];
    await client.post(body).then(() => {
      toldAtAnswer = toldStatuses(body.path);
    });
    expect(toldAtAnswer).toContain('processing');
    await settled(body.reference, 2);
    expect(toldStatuses(body.path)).toEqual(['processing', 'succeeded']);
  });

  fault('filtered', async () => {
    const job = await client.reaches(await client.create(options('filtered')), 'succeeded');
    expect(job).toMatchObject({ filtered: true, outputs: [], cost: { amount: '0.0000' } });
  });

  fault(['failed', 'failed_charged'], async () => {
    const code = { error_code: 'content_policy' };
    const job = await client.reaches(await client.create(options('failed', code)), 'failed');
    expect(job).toMatchObject({ error: { code: 'content_policy' }, cost: { amount: '0.0000' } });
    const id = await client.create(options('failed_charged'));
    expect(await client.reaches(id, 'failed')).toMatchObject({ cost: { amount: '0.0100' } });
    const charges = await sandbox.charges();
    expect(charges.filter((charge) => charge.job_id === id)).toHaveLength(1);
    expect(charges.filter((charge) => charge.job_id === job.id)).toHaveLength(0);
  });

  fault('failed_late', async () => {
    const id = await client.create(options('failed_late'));
    const statuses = [await client.show(id), await client.show(id), await client.show(id)];
    expect(statuses.map((job) => job.status).slice(1)).toEqual(['processing', 'failed']);
  });

  fault('hang', async () => {
    const id = await client.create(options('hang'));
    await client.reaches(id, 'processing');
    expect(await client.cancel(id)).toMatchObject({ status: 202, body: { cancel: 'requested' } });
    expect(await client.reaches(id, 'canceled')).toMatchObject({ cost: { amount: '0.0000' } });
    expect(await client.cancel(id)).toMatchObject({ status: 409, body: { status: 'canceled' } });
  });

  fault('url_expired', async () => {
    const silent = await client.create(options('url_expired'));
    const stale = await client.reaches(silent, 'succeeded');
    expect((await fetch(stale.outputs[0]?.url ?? '')).status).toBe(403);
    const fresh = await client.show(silent);
    expect((await fetch(fresh.outputs[0]?.url ?? '')).status).toBe(200);
    const body = withCallback(options('url_expired'));
    await client.post(body);
    await settled(body.reference, 2);
    const told = receiver.received.findLast((callback) => callback.path === body.path);
    const event = JSON.parse(told?.rawBody.toString('utf8') ?? '') as { data: ShownJob };
    expect((await fetch(event.data.outputs[0]?.url ?? '')).status).toBe(403);
    const asked = await client.show(event.data.id);
    expect((await fetch(asked.outputs[0]?.url ?? '')).status).toBe(200);
  });

  fault(['download_cut', 'download_cut_always'], async () => {
    const [once, always] = [
      await client.reaches(await client.create(options('download_cut')), 'succeeded'),
      await client.reaches(await client.create(options('download_cut_always')), 'succeeded'),
    ].map((job) => job.outputs[0]?.url ?? '');
    const size = Number(
      (await fetch(once ?? '', { method: 'HEAD' })).headers.get('content-length'),
    );
    const half = Math.floor(size / 2);
    expect(await bytesBeforeEnd(once ?? '')).toEqual({ bytes: half, isCut: true });
    const rest = await bytesBeforeEnd(once ?? '', { range: `bytes=${half}-` });
    expect(rest).toEqual({ bytes: size - half, isCut: false });
    for (let time = 0; time < 3; time += 1) {
      expect(await bytesBeforeEnd(always ?? '')).toEqual({ bytes: half, isCut: true });
    }
    const resumed = await bytesBeforeEnd(always ?? '', { range: `bytes=${half}-` });
    expect(resumed).toEqual({ bytes: 0, isCut: true });
  });

  fault(['unknown_status', 'poll_404', 'poll_500'], async () => {
    const odd = await client.create(options('unknown_status', { times: 2 }));
    expect(await client.show(odd)).toMatchObject({ status: 'hyperflux', outputs: [] });
    expect(await client.show(odd)).toMatchObject({ status: 'hyperflux' });
    expect(await client.show(odd)).toMatchObject({ status: 'succeeded' });
    const missing = await client.create(options('poll_404'));
    expect((await client.call(`/v1/videos/${missing}`)).status).toBe(404);
    expect((await client.call(`/v1/videos/${missing}`)).status).toBe(200);
    const failing = await client.create(options('poll_500'));
    const statuses: number[] = [];
    for (let poll = 0; poll < 4; poll += 1) {
      statuses.push((await client.call(`/v1/videos/${failing}`)).status);
    }
    expect(statuses).toEqual([500, 500, 500, 200]);
  });

  fault('cancel_refused', async () => {
    const id = await client.create(options('cancel_refused'));
    await client.reaches(id, 'processing');
    expect(await client.cancel(id)).toMatchObject({
      status: 409,
      body: { error: { code: 'cancel_refused' } },
    });
    await client.reaches(id, 'succeeded');
  });

  fault('cancel_slow', async () => {
    const id = await client.create(options('cancel_slow', { cancel_ms: 200 }));
    await client.reaches(id, 'processing');
    expect((await client.cancel(id)).status).toBe(202);
    expect(await client.show(id)).toMatchObject({ status: 'processing' });
    await client.reaches(id, 'canceled');
  });

  fault('cancel_completes', async () => {
    const id = await client.create(options('cancel_completes'));
    await client.reaches(id, 'processing');
    expect((await client.cancel(id)).status).toBe(202);
    expect(await client.reaches(id, 'succeeded')).toMatchObject({ cost: { amount: '0.0100' } });
  });

  fault('cancel_charged', async () => {
    const id = await client.create({ options: { fault: ['hang', 'cancel_charged'] } });
    await client.reaches(id, 'processing');
    await client.cancel(id);
    expect(await client.reaches(id, 'canceled')).toMatchObject({ cost: { amount: '0.0050' } });
  });

  fault('overcharge', async () => {
    const id = await client.create(options('overcharge'));
    await client.reaches(id, 'succeeded');
    const charges = (await sandbox.charges()).filter((charge) => charge.job_id === id);
    expect(charges).toMatchObject([{ amount: '0.0300' }]);
  });

  it('takes faults from the administrator for creates that ask for none', async () => {
    await sandbox.queueFaults(['failed', ['filtered', 'overcharge'], { fault: 'reject_402' }]);
    await client.reaches(await client.create(options('overcharge')), 'succeeded');
    await client.reaches(await client.create(), 'failed');
    expect(await client.reaches(await client.create(), 'succeeded')).toMatchObject({
      filtered: true,
    });
    expect((await client.post(client.body())).status).toBe(402);
    await client.reaches(await client.create(), 'succeeded');
    await expect(sandbox.queueFaults(['misspelt'])).rejects.toThrow('400');
  });

  it('has a test for every fault', () => {
    expect(FAULTS.filter((name) => !tested.has(name))).toEqual([]);
  });
});

/** How much of a body arrives, and whether it ended before its announced length. */
async function bytesBeforeEnd(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ bytes: number; isCut: boolean }> {
  let bytes = 0;
  const answer = await fetch(url, { headers });
  try {
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
    }
    return { bytes, isCut: false };
  } catch {
    // The cut is what was asked for; how it is worded differs between versions of Node.
    return { bytes, isCut: true };
  }
}
