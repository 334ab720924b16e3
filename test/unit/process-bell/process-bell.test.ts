import { EventEmitter } from 'node:events';

import { createBellSwitch } from '../../../src/adapters/process-bell/bell-switch';
import {
  createProcessBell,
  type BellChannel,
} from '../../../src/adapters/process-bell/process-bell';
import type { Bell } from '../../../src/ports/message-bus';
import { createRecordingLog } from '../../contract/recording-log';
import { eventually } from '../../support/eventually';

const BURST_INTERVAL_MS = 20;

/** Two ends of a channel that takes its time, as that between two processes. */
const connect = (): { readonly child: BellChannel; readonly parent: BellChannel } => {
  const toChild = new EventEmitter();
  const toParent = new EventEmitter();
  const end = (out: EventEmitter, incoming: EventEmitter): BellChannel => ({
    send: (message) => void setImmediate(() => out.emit('message', message)),
    onMessage: (listener) => {
      incoming.on('message', listener);
      return () => void incoming.off('message', listener);
    },
  });
  return { child: end(toParent, toChild), parent: end(toChild, toParent) };
};

/** The outer bell of the parent: remembers what rang, and rings when told. */
const createFarBell = () => {
  const wakers = new Map<string, () => void>();
  const rung: string[] = [];
  const bell: Bell = {
    ring: (channel) => void rung.push(channel),
    listen: (channel, wake) => {
      wakers.set(channel, wake);
      return Promise.resolve(() => Promise.resolve());
    },
    close: () => Promise.resolve(),
  };
  return { bell, rung, ringIn: (channel: string) => wakers.get(channel)?.() };
};

const log = createRecordingLog();
let bells: Bell[] = [];
let far: ReturnType<typeof createFarBell>;
let bellSwitch: ReturnType<typeof createBellSwitch>;

beforeEach(() => {
  bells = [];
  far = createFarBell();
  bellSwitch = createBellSwitch(far.bell, log);
});
afterEach(async () => {
  await Promise.all(bells.map((bell) => bell.close()));
  await bellSwitch.close();
});

const startChild = (): { readonly bell: Bell; readonly die: () => void } => {
  const { child, parent } = connect();
  const die = bellSwitch.attach(parent);
  const bell = createProcessBell({ parent: child, log, burstIntervalMs: BURST_INTERVAL_MS });
  bells.push(bell);
  return { bell, die };
};

const count = async (bell: Bell, channel: string) => {
  const heard = { rings: 0, end: () => Promise.resolve() };
  heard.end = await bell.listen(channel, () => (heard.rings += 1));
  return heard;
};

/** Messages keep their order, so when the mark has rung everything sent before it has arrived. */
const passMark = async (from: Bell, to: Bell): Promise<void> => {
  const mark = await count(to, 'mark');
  await eventually('the mark', () => {
    from.ring('mark');
    return mark.rings > 0 ? true : null;
  });
};

const rings = (heard: { readonly rings: number }, least: number) =>
  eventually(`${least} rings`, () => (heard.rings >= least ? true : null));

describe('the bell of processes with one parent', () => {
  it('wakes listeners of the channel in other processes and in its own, and no others', async () => {
    const [one, two] = [startChild(), startChild()];
    const own = await count(one.bell, 'outbox');
    const others = await count(two.bell, 'outbox');
    const deaf = await count(two.bell, 'slots');
    await passMark(two.bell, one.bell);
    one.bell.ring('outbox');
    await rings(own, 1);
    await rings(others, 1);
    await passMark(one.bell, two.bell);
    expect(own.rings).toBe(1);
    expect(others.rings).toBe(1);
    expect(deaf.rings).toBe(0);
  });

  it('makes one ring at once and one after it of a burst', async () => {
    const [one, two] = [startChild(), startChild()];
    const heard = await count(two.bell, 'outbox');
    await passMark(two.bell, one.bell);
    for (let i = 0; i < 1_000; i += 1) one.bell.ring('outbox');
    await rings(heard, 2);
    await passMark(one.bell, two.bell);
    expect(heard.rings).toBe(2);
  });

  it('lets nobody be woken who stopped listening, or whose process has ended', async () => {
    const [one, two, three] = [startChild(), startChild(), startChild()];
    const stopped = await count(two.bell, 'outbox');
    const ended = await count(three.bell, 'outbox');
    await passMark(two.bell, one.bell);
    await stopped.end();
    three.die();
    await passMark(two.bell, one.bell);
    one.bell.ring('outbox');
    await passMark(one.bell, two.bell);
    expect([stopped.rings, ended.rings]).toEqual([0, 0]);
  });

  it('rings outwards for every ring of a child, and inwards for rings from outside', async () => {
    const one = startChild();
    const heard = await count(one.bell, 'outbox');
    one.bell.ring('slots');
    await eventually('the outer ring', () => (far.rung.includes('slots') ? true : null));
    far.ringIn('outbox');
    await rings(heard, 1);
  });

  it('keeps waking the others when one waker throws', async () => {
    const one = startChild();
    await one.bell.listen('outbox', () => {
      throw new Error('a broken waker');
    });
    const heard = await count(one.bell, 'outbox');
    one.bell.ring('outbox');
    await rings(heard, 1);
    expect(log.lines.some(({ message }) => message === 'a waker failed')).toBe(true);
  });

  it('is not disturbed by other messages of the channel', async () => {
    const { child, parent } = connect();
    bellSwitch.attach(parent);
    bells.push(createProcessBell({ parent: child, log, burstIntervalMs: BURST_INTERVAL_MS }));
    const noise: unknown[] = [
      null,
      7,
      { ready: true },
      { bell: 'ring' },
      { bell: 'toll', channel: 'outbox' },
    ];
    for (const message of noise) {
      child.send(message as never);
      parent.send(message as never);
    }
    const two = startChild();
    const heard = await count(two.bell, 'outbox');
    await passMark(two.bell, two.bell);
    two.bell.ring('outbox');
    await rings(heard, 1);
  });
});
