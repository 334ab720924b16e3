import { createPostgresBell } from '../../../src/adapters/postgres/bell/postgres-bell';
import type { Bell } from '../../../src/ports/message-bus';
import { startFreezableProxy } from '../../contract/freezable-proxy';
import { createRecordingLog } from '../../contract/recording-log';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';

const BURST_INTERVAL_MS = 60;

let database: TestDatabase;
let opened: Bell[] = [];
const log = createRecordingLog();

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
afterEach(async () => {
  await Promise.all(opened.map((bell) => bell.close()));
  opened = [];
});

const open = (connectionString = database.url, burstIntervalMs = BURST_INTERVAL_MS): Bell => {
  const bell = createPostgresBell({
    connectionString,
    log,
    burstIntervalMs,
    timings: { reconnectMsFirst: 10, reconnectMsMax: 50, heartbeatMs: 40, answerMs: 500 },
  });
  opened.push(bell);
  return bell;
};

/** Listens and counts. */
const count = async (bell: Bell, channel: string) => {
  const heard = { rings: 0, end: () => Promise.resolve() };
  heard.end = await bell.listen(channel, () => (heard.rings += 1));
  return heard;
};

const rings = (heard: { rings: number }, least: number) =>
  eventually(`${String(least)} rings`, () => (heard.rings >= least ? true : null));

/** Rings of one process keep their order, so when the mark has rung everything before it has. */
const passMark = async (from: Bell, to: Bell): Promise<void> => {
  const mark = await count(to, 'mark');
  from.ring('mark');
  await rings(mark, 1);
  await mark.end();
};

const cut = async (applicationName: string): Promise<void> => {
  await database.pool.query(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = $1`,
    [applicationName],
  );
};

describe('the Postgres bell', () => {
  it('wakes who listens to its channel, in any process, and nobody else', async () => {
    const [here, there] = [open(), open()];
    const heard = [await count(here, 'outbox'), await count(there, 'outbox')];
    const other = await count(there, 'bus.media');
    here.ring('outbox');
    await Promise.all(heard.map((each) => rings(each, 1)));
    await passMark(here, there);
    expect(other.rings).toBe(0);
  });

  it('does not wake who stopped listening', async () => {
    const bell = open();
    const [gone, stays] = [await count(bell, 'outbox'), await count(bell, 'outbox')];
    await gone.end();
    bell.ring('outbox');
    await rings(stays, 1);
    expect(gone.rings).toBe(0);
  });

  it('makes of a burst one ring at once and one at its end', async () => {
    const [ringer, listener] = [open(), open()];
    const heard = await count(listener, 'outbox');
    ringer.ring('outbox');
    ringer.ring('outbox');
    await rings(heard, 2);
    ringer.ring('outbox');
    await rings(heard, 3);
    expect(heard.rings).toBe(3);
  });

  it('keeps all rings of an interval for its end, and does not lose them when it is closed', async () => {
    // So long an interval does not end within the test.
    const [ringer, listener] = [open(database.url, 60_000), open()];
    const heard = await count(listener, 'outbox');
    for (let ring = 0; ring < 1_000; ring += 1) ringer.ring('outbox');
    await passMark(ringer, listener);
    expect(heard.rings).toBe(1);
    await ringer.close();
    await rings(heard, 2);
    expect(heard.rings).toBe(2);
  });

  it('wakes everybody once when its connection was cut and came back', async () => {
    const bell = open();
    const heard = [await count(bell, 'outbox'), await count(bell, 'bus.media')];
    await cut('bell-listen');
    await Promise.all(heard.map((each) => rings(each, 1)));
    bell.ring('outbox');
    await rings(heard[0]!, 2);
    expect(heard[1]!.rings).toBe(1);
  });

  it('rings again after the connection that rings was cut', async () => {
    const bell = open();
    const heard = await count(bell, 'outbox');
    bell.ring('outbox');
    await rings(heard, 1);
    await cut('bell-ring');
    bell.ring('bus.media');
    bell.ring('outbox');
    await rings(heard, 2);
  });

  it('finds out that a silent connection is half open, and makes a new one', async () => {
    const proxy = await startFreezableProxy(database.url);
    const listener = open(proxy.through(database.url));
    const heard = await count(listener, 'outbox');
    proxy.freeze();
    await rings(heard, 1);
    open().ring('outbox');
    await rings(heard, 2);
    await listener.close();
    await proxy.close();
  });

  it('neither throws nor waits when there is no database', async () => {
    const nowhere = new URL(database.url);
    nowhere.port = '1';
    const bell = open(nowhere.href);
    const heard = await count(bell, 'outbox');
    bell.ring('outbox');
    await bell.close();
    expect(heard.rings).toBe(0);
  });

  it('refuses to listen to a name that Postgres would cut', async () => {
    await expect(open().listen('x'.repeat(59), () => undefined)).rejects.toThrow(RangeError);
  });

  it('is not stopped by a waker that throws', async () => {
    const bell = open();
    await bell.listen('outbox', () => {
      throw new Error('a fault of the loop');
    });
    const heard = await count(bell, 'outbox');
    bell.ring('outbox');
    await rings(heard, 1);
  });
});
