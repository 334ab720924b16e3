import { topics } from '../../../src/flow/notify/announce-change';
import { eventually } from '../../support/eventually';
import { useFlow, type Flow } from '../../support/flow-harness';
import { SimulatedCrash } from '../../support/flow/message-driver';
import { makePicture, uploadBytes } from '../../support/flow/uploads';

const open = useFlow();

type Payload = Readonly<Record<string, unknown>>;

/** What a subscriber of the topic hears; `settled` answers all of it once a last message of the test's own is through. */
const listen = async (
  flow: Flow,
  topic: string,
): Promise<{ settled: () => Promise<Payload[]>; stop: () => Promise<void> }> => {
  const heard: Payload[] = [];
  const stop = await flow.pubSub.subscribe(
    topic,
    (payload) => void heard.push(payload),
    () => undefined,
  );
  return {
    stop,
    settled: async () => {
      await flow.pubSub.publish(topic, { last: true });
      await eventually(
        'the last message',
        () => heard.some((each) => each['last'] === true) || null,
      );
      return heard.filter((each) => each['last'] !== true);
    },
  };
};

describe('a notification', () => {
  it('tells the subscribers of a generation and of its tenant, and nobody else', async () => {
    const flow = await open();
    const other = await flow.addTenant();
    const { id } = await flow.create();
    const heard = await Promise.all([
      listen(flow, topics.generation(id)),
      listen(flow, topics.tenant(flow.tenantId)),
      listen(flow, topics.tenant(other)),
    ]);
    await flow.relay();
    await flow.deliver('notification');
    const [own, tenant, stranger] = await Promise.all(heard.map((each) => each.settled()));
    expect(own).toEqual([{ taskId: id, version: 4, status: 'QUEUED', terminal: false }]);
    expect(tenant).toEqual(own);
    expect(stranger).toEqual([]);
    await Promise.all(heard.map((each) => each.stop()));
  });

  it('tells of an asset that may be used', async () => {
    const flow = await open();
    const assetId = await uploadBytes(flow, await makePicture());
    const heard = await listen(flow, topics.asset(assetId));
    await flow.drain();
    expect(await heard.settled()).toEqual([{ assetId, status: 'READY' }]);
    await heard.stop();
  });

  test('the inbox of notification stops a repeat', async () => {
    const flow = await open();
    const { id } = await flow.create();
    const heard = await listen(flow, topics.generation(id));
    await flow.relay();
    const answers = await flow.deliverTwice('notification');
    expect(answers).toEqual([{ first: { kind: 'APPLIED' }, second: { kind: 'DUPLICATE' } }]);
    expect(await heard.settled()).toHaveLength(1);
    await heard.stop();
  });

  it('lost with a dead worker is not made up: the row has the truth, and later news arrives', async () => {
    const flow = await open();
    const { id } = await flow.create();
    const heard = await listen(flow, topics.generation(id));
    await flow.relay();
    flow.crashAt('notify.before_publish');
    await expect(flow.deliver('notification')).rejects.toThrow(SimulatedCrash);
    flow.disarm();
    flow.clock.advance(16_000);
    await flow.cancel(id);
    await flow.drain();
    expect(await heard.settled()).toMatchObject([{ status: 'CANCELED', terminal: true }]);
    await heard.stop();
  });

  it('leaves every status with its version, in order', async () => {
    const flow = await open();
    const { id } = await flow.create();
    const heard = await listen(flow, topics.generation(id));
    await flow.drain(['output-fetch', 'media', 'reducer']);
    await flow.finishJob(id);
    await flow.drain(['output-fetch']);
    const versions = (await heard.settled()).map((each) => Number(each['version']));
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
    expect(versions.at(-1)).toBe((await flow.task(id)).version);
    await heard.stop();
  });
});
