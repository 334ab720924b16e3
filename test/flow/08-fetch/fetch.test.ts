import { Readable } from 'node:stream';

import { rawOutputKey } from '../../../src/domain/output/object-keys';
import { createFetchConsumer } from '../../../src/flow/fetch/fetch-output';
import { rescueStuck } from '../../../src/flow/reconcile/recover-tasks';
import { useFlow, type CreateChanges, type Flow } from '../../support/flow-harness';
import { expectRepeatStopped, onlyProxy } from '../../support/flow/expectations';
import { SimulatedCrash } from '../../support/flow/message-driver';
import { reduceAll, say } from '../../support/flow/observations';
import { digestOf, readObject } from '../../support/flow/uploads';

const open = useFlow();

/** A job that has ended well, with the message for the fetcher on the bus. */
const fetchable = async (flow: Flow, changes: CreateChanges = {}): Promise<string> => {
  const { id } = await flow.submit(changes);
  expect((await flow.finishJob(id)).status).toBe('OUTPUT_FETCHING');
  await flow.relay();
  return id;
};

const rawKeyOf = async (flow: Flow, taskId: string): Promise<string> =>
  rawOutputKey(flow.tenantId, taskId, (await flow.attempt(taskId)).id, 0, 1);

const expectStored = async (flow: Flow, taskId: string): Promise<void> => {
  const [job] = await flow.jobs(taskId);
  const [asset] = await flow.look(
    'SELECT sha256, size_bytes, object_key FROM assets WHERE task_id = $1',
    [taskId],
  );
  expect(asset).toMatchObject({
    sha256: job?.output?.sha256,
    object_key: await rawKeyOf(flow, taskId),
  });
  const bytes = await readObject(flow, String(asset?.['object_key']));
  expect(digestOf(bytes ?? Buffer.alloc(0))).toBe(job?.output?.sha256);
};

describe('a fetch', () => {
  it('brings the output to its key with the checksum of the provider’s own file', async () => {
    const flow = await open();
    const id = await fetchable(flow);
    await flow.deliver('output-fetch');
    expect((await flow.task(id)).status).toBe('POST_PROCESSING');
    await expectStored(flow, id);
  });

  test('the inbox of output-fetch stops a repeat', async () => {
    const flow = await open();
    await fetchable(flow);
    await expectRepeatStopped(flow, 'output-fetch');
  });

  it('run three times at once stores one object and one row', async () => {
    const flow = await open();
    const id = await fetchable(flow);
    const answers = await flow.deliverAtOnce('output-fetch', 3);
    expect(answers.filter(({ kind }) => kind === 'APPLIED')).toHaveLength(1);
    await expectStored(flow, id);
    expect(await flow.look('SELECT id FROM assets')).toHaveLength(1);
  });

  it('cut at half is resumed, checked, and the generation is not run again (case 34)', async () => {
    const flow = await open();
    const id = await fetchable(flow, { fault: 'download_cut' });
    await flow.deliver('output-fetch');
    expect(await flow.task(id)).toMatchObject({ status: 'POST_PROCESSING', fetchTries: 0 });
    await expectStored(flow, id);
    expect(await flow.jobs(id)).toHaveLength(1);
  });

  it('always cut ends with its budget, with no half of an object left and no second job (case 34)', async () => {
    const flow = await open();
    const id = await fetchable(flow, { fault: 'download_cut_always' });
    for (let tries = 0; tries < 8; tries += 1) {
      await flow.drain();
      flow.clock.advance(40_000);
    }
    expect(await flow.task(id)).toMatchObject({
      status: 'FAILED_FINAL',
      lastErrorCode: 'OUTPUT_INTERRUPTED',
      fetchTries: 5,
    });
    expect(await readObject(flow, await rawKeyOf(flow, id))).toBeNull();
    expect(await flow.jobs(id)).toHaveLength(1);
    // Charged by the provider, and never delivered: the platform bears it.
    expect(await flow.ledger(id)).toMatchObject([
      { kind: 'RESERVE' },
      { kind: 'RELEASE', reason: 'CHARGED_PLATFORM_BEARS' },
    ]);
    expect(await flow.look('SELECT source FROM provider_costs')).toHaveLength(1);
  });

  it('asks the provider for a fresh URL when the one it has is over (case 35)', async () => {
    const flow = await open();
    const id = await fetchable(flow, { fault: ['url_expired', 'callback_never'] });
    const before = (await flow.attempt(id)).outputs;
    await flow.deliver('output-fetch');
    expect((await flow.task(id)).status).toBe('POST_PROCESSING');
    expect((await flow.attempt(id)).outputs?.[0]?.url).not.toBe(before?.[0]?.url);
    await expectStored(flow, id);
  });

  it('of what the provider has lost for good fails with its reason, and its hold is released (case 35)', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'hang' });
    const attempt = await flow.attempt(id);
    await say(flow, attempt, {
      status: 'SUCCEEDED',
      outputs: [
        {
          index: 0,
          url: `${flow.sandbox.url}/v1/videos/${attempt.jobId}/content/0?expires=1&sig=x`,
          expiresAt: null,
        },
      ],
    });
    await reduceAll(flow);
    for (let tries = 0; tries < 8; tries += 1) {
      await flow.drain();
      flow.clock.advance(40_000);
    }
    expect(await flow.task(id)).toMatchObject({
      status: 'FAILED_FINAL',
      lastErrorClass: 'OUTPUT_FETCH',
    });
    expect((await flow.balance()).heldMicros).toBe(0n);
    expect(await flow.jobs(id)).toHaveLength(1);
  });

  it('never follows a URL to a host that is not the provider’s', async () => {
    const flow = await open();
    const { id } = await flow.submit({ fault: 'hang' });
    await say(flow, await flow.attempt(id), {
      status: 'SUCCEEDED',
      outputs: [{ index: 0, url: 'http://169.254.169.254/latest/meta-data', expiresAt: null }],
    });
    await reduceAll(flow);
    await flow.drain();
    expect((await flow.task(id)).status).toBe('FAILED_FINAL');
  });

  it('finds its own object after a death between storage and database, and does not load it again', async () => {
    const flow = await open();
    const id = await fetchable(flow);
    flow.crashAt('fetch.after_put_before_db');
    await expect(flow.deliver('output-fetch')).rejects.toThrow(SimulatedCrash);
    flow.disarm();
    const head = await flow.objectServer.store.head(await rawKeyOf(flow, id));
    flow.clock.advance(16_000);
    await flow.deliver('output-fetch');
    expect((await flow.task(id)).status).toBe('POST_PROCESSING');
    expect(await flow.objectServer.store.head(await rawKeyOf(flow, id))).toEqual(head);
    await expectStored(flow, id);
  });

  it('never overwrites another object at its key: a person must look', async () => {
    const flow = await open();
    const id = await fetchable(flow);
    const key = await rawKeyOf(flow, id);
    const { store } = flow.objectServer;
    const real = flow.fetch.source;
    // Somebody else's bytes come to stand there while ours are on their way.
    const handler = createFetchConsumer(flow.context, {
      ...flow.fetch,
      source: {
        open: async (...args) => {
          const opening = await real.open(...args);
          await store.putStream(key, Readable.from([Buffer.from('other')]), {
            contentType: 'video/mp4',
            sizeBytesMax: 10,
          });
          return opening;
        },
      },
    });
    const [delivery] = await flow.bus.receive('output-fetch', {
      max: 1,
      leaseMs: 1,
      now: flow.clock.now(),
    });
    if (delivery === undefined) throw new Error('nothing is to be fetched');
    await handler(delivery.envelope, new AbortController().signal);
    expect(await flow.task(id)).toMatchObject({ status: 'OUTPUT_FETCHING', needsOperator: true });
    expect(await flow.findings()).toEqual(['OBJECT_CONFLICT']);
    expect(await readObject(flow, key)).toEqual(Buffer.from('other'));
    // Nobody asks for it again until a person has looked.
    flow.clock.advance(flow.context.settings.stuckAfterMs * 2);
    expect(await rescueStuck(flow.context)).toBe(0);
  });

  it('whose message was lost is asked for again by the reconciler', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const id = await fetchable(flow);
    expect(await flow.lose('output-fetch')).toHaveLength(1);
    expect(await rescueStuck(flow.context)).toBe(0);
    flow.clock.advance(flow.context.settings.stuckAfterMs + 1);
    expect(await rescueStuck(flow.context)).toBe(1);
    expect(await rescueStuck(flow.context)).toBe(0);
    await flow.drain();
    expect((await flow.task(id)).status).toBe('SUCCEEDED');
  });

  it('takes a cancel for what it is: too late', async () => {
    const flow = await open({ toolkit: onlyProxy });
    const id = await fetchable(flow);
    expect(await flow.cancel(id)).toMatchObject({
      stopped: false,
      task: { cancelOutcome: 'TOO_LATE' },
    });
    await flow.drain();
    expect((await flow.task(id)).status).toBe('SUCCEEDED');
  });
});
