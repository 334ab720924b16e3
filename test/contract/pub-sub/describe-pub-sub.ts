import type { PubSub } from '../../../src/ports/pub-sub';
import { eventually } from '../../support/eventually';

type Payload = Readonly<Record<string, unknown>>;

export interface PubSubHarness {
  /** One more process. */
  open(): Promise<PubSub>;
  /** Cuts every connection that listens, on the server's side. */
  cutListeners(): Promise<void>;
}

const PAYLOAD_BYTES_MAX = 4_096;
const ignore = (): void => undefined;

/** A payload whose JSON has exactly `bytes` bytes, with a two-byte letter in it. */
const payloadOfBytes = (bytes: number): Payload => ({ text: 'é' + 'x'.repeat(bytes - 13) });

/** The contract of src/ports/pub-sub.ts; every adapter runs it. */
export const describePubSub = (name: string, harness: () => PubSubHarness): void => {
  describe(`pub/sub: ${name}`, () => {
    let opened: PubSub[];
    const open = async (): Promise<PubSub> => {
      const pubSub = await harness().open();
      opened.push(pubSub);
      return pubSub;
    };
    beforeEach(() => {
      opened = [];
    });
    afterEach(async () => {
      await Promise.all(opened.map((each) => each.close()));
    });

    /** Subscribes and keeps what comes. */
    const collect = async (pubSub: PubSub, topic: string) => {
      const received: Payload[] = [];
      const unsubscribe = await pubSub.subscribe(topic, (each) => received.push(each), ignore);
      return { received, unsubscribe };
    };
    /** Messages keep their order, so when the mark has come everything before it has. */
    const passMark = async (publisher: PubSub, subscriber: PubSub): Promise<void> => {
      const { received, unsubscribe } = await collect(subscriber, 'mark');
      await publisher.publish('mark', {});
      await eventually('the mark', () => received[0]);
      await unsubscribe();
    };

    it('brings a message to every subscriber of its topic in every process, and to no other', async () => {
      const [here, there] = [await open(), await open()];
      const same = [
        await collect(here, 'task.1'),
        await collect(here, 'task.1'),
        await collect(there, 'task.1'),
      ];
      const other = await collect(there, 'task.2');
      const payload = {
        status: 'RUNNING',
        note: 'ünïcode 影像 "quoted" \n',
        nested: { n: 1.5, none: null },
      };
      await here.publish('task.1', payload);
      await passMark(here, there);
      await passMark(here, here);

      for (const { received } of same) expect(received).toEqual([payload]);
      expect(other.received).toEqual([]);
    });

    it('keeps the order of one publisher', async () => {
      const [publisher, subscriber] = [await open(), await open()];
      const { received } = await collect(subscriber, 'task.1');
      await Promise.all(
        Array.from({ length: 200 }, (_, index) => publisher.publish('task.1', { index })),
      );
      await passMark(publisher, subscriber);
      expect(received).toEqual(Array.from({ length: 200 }, (_, index) => ({ index })));
    });

    it('brings nothing after `unsubscribe`, and the other subscribers keep theirs', async () => {
      const [publisher, subscriber] = [await open(), await open()];
      const gone = await collect(subscriber, 'task.1');
      const stays = await collect(subscriber, 'task.1');
      await gone.unsubscribe();
      await gone.unsubscribe();
      await publisher.publish('task.1', { version: 1 });
      await passMark(publisher, subscriber);
      expect(gone.received).toEqual([]);
      expect(stays.received).toHaveLength(1);
    });

    it('works for who subscribes again after the last one left', async () => {
      const [publisher, subscriber] = [await open(), await open()];
      const first = await collect(subscriber, 'task.1');
      const leaving = first.unsubscribe();
      const second = await collect(subscriber, 'task.1');
      await leaving;
      await publisher.publish('task.1', { version: 1 });
      await passMark(publisher, subscriber);
      expect(second.received).toHaveLength(1);
    });

    it('takes a payload of 4 kB and refuses a larger one', async () => {
      const [publisher, subscriber] = [await open(), await open()];
      const { received } = await collect(subscriber, 'task.1');
      const largest = payloadOfBytes(PAYLOAD_BYTES_MAX);
      expect(Buffer.byteLength(JSON.stringify(largest))).toBe(PAYLOAD_BYTES_MAX);

      await publisher.publish('task.1', largest);
      await expect(
        publisher.publish('task.1', payloadOfBytes(PAYLOAD_BYTES_MAX + 1)),
      ).rejects.toThrow(RangeError);
      await passMark(publisher, subscriber);
      expect(received).toEqual([largest]);
    });

    it('is not stopped by a subscriber that throws', async () => {
      const pubSub = await open();
      await pubSub.subscribe(
        'task.1',
        () => {
          throw new Error('a fault of the subscriber');
        },
        ignore,
      );
      const { received } = await collect(pubSub, 'task.1');
      await pubSub.publish('task.1', { version: 1 });
      await passMark(pubSub, pubSub);
      expect(received).toHaveLength(1);
    });

    it('comes back when its connection is cut, tells every subscriber, and delivers again', async () => {
      const [publisher, subscriber] = [await open(), await open()];
      let reconnects = 0;
      const received: Payload[] = [];
      for (const topic of ['task.1', 'task.2']) {
        await subscriber.subscribe(
          topic,
          (each) => received.push(each),
          () => (reconnects += 1),
        );
      }
      await harness().cutListeners();
      await eventually('both subscribers were told', () => (reconnects === 2 ? true : null));
      await publisher.publish('task.1', { version: 2 });
      await passMark(publisher, subscriber);
      expect(received).toEqual([{ version: 2 }]);
      expect(reconnects).toBe(2);
    });

    it('refuses to publish or subscribe when it is closed', async () => {
      const pubSub = await open();
      await pubSub.close();
      await pubSub.close();
      await expect(pubSub.publish('task.1', {})).rejects.toThrow();
      await expect(pubSub.subscribe('task.1', ignore, ignore)).rejects.toThrow();
    });
  });
};
