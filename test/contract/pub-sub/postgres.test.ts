import { createPostgresPubSub } from '../../../src/adapters/postgres/pub-sub/postgres-pub-sub';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { createRecordingLog } from '../recording-log';
import { describePubSub } from './describe-pub-sub';

const TIMINGS = { reconnectMsFirst: 10 };

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
// Fails when a connection was left open.
afterAll(() => database.drop());

const open = () =>
  createPostgresPubSub({
    connectionString: database.url,
    log: createRecordingLog(),
    timings: TIMINGS,
  });

const connectionsOf = async (applicationName: string): Promise<number[]> => {
  const { rows } = await database.pool.query<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1',
    [applicationName],
  );
  return rows.map(({ pid }) => pid);
};

const cut = async (applicationName: string): Promise<void> => {
  await database.pool.query(
    'SELECT pg_terminate_backend(pid, 5000) FROM unnest($1::int[]) AS p (pid)',
    [await connectionsOf(applicationName)],
  );
};

describePubSub('postgres', () => ({
  open: () => Promise.resolve(open()),
  cutListeners: () => cut('pub-sub-listen'),
}));

describe('the Postgres pub/sub', () => {
  it('opens no connection before it is used, and one for any number of subscribers', async () => {
    const pubSub = open();
    expect(await connectionsOf('pub-sub-listen')).toEqual([]);
    await Promise.all(
      ['a', 'b', 'c'].map((topic) =>
        pubSub.subscribe(
          topic,
          () => undefined,
          () => undefined,
        ),
      ),
    );
    expect(await connectionsOf('pub-sub-listen')).toHaveLength(1);
    expect(await connectionsOf('pub-sub-publish')).toEqual([]);
    await pubSub.close();
  });

  it('publishes again after its connection was cut', async () => {
    const pubSub = open();
    const received: unknown[] = [];
    await pubSub.subscribe(
      'a',
      (each) => received.push(each),
      () => undefined,
    );
    await pubSub.publish('a', { n: 1 });
    await cut('pub-sub-publish');
    await pubSub.publish('a', { n: 2 });
    await eventually('both messages', () => received[1]);
    expect(received).toEqual([{ n: 1 }, { n: 2 }]);
    await pubSub.close();
  });

  it('passes over what others send on its channel', async () => {
    const log = createRecordingLog();
    const pubSub = createPostgresPubSub({ connectionString: database.url, log });
    const received: unknown[] = [];
    await pubSub.subscribe(
      'a',
      (each) => received.push(each),
      () => undefined,
    );
    await database.pool.query(
      `SELECT pg_notify('pub_sub', E'a\\nno JSON'), pg_notify('pub_sub', '')`,
    );
    await pubSub.publish('a', { n: 1 });
    await eventually('the message', () => received[0]);
    expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
    await pubSub.close();
  });
});
