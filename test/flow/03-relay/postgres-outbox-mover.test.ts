import { createPostgresOutboxMover } from '../../../src/adapters/postgres/bus/outbox-mover';
import { describeOutboxMover } from './describe-outbox-mover';
import { NOW, openRelaySetup, type RelaySetup } from './relay-setup';

let setup: RelaySetup;
beforeAll(async () => {
  setup = await openRelaySetup();
});
afterAll(() => setup.close());
afterEach(() => setup.empty());

const openMover: Parameters<typeof describeOutboxMover>[2] = (onMoved) =>
  createPostgresOutboxMover({ pool: setup.pool, ...(onMoved === undefined ? {} : { onMoved }) });

describeOutboxMover('Postgres alone', () => setup, openMover);

describe('the Postgres outbox mover', () => {
  it('moves and marks in one step: what fails in between leaves both as they were', async () => {
    const [id] = await setup.add(1);
    await setup.database.pool.query(
      'ALTER TABLE bus_messages ADD CONSTRAINT closed CHECK (false) NOT VALID',
    );
    try {
      await expect(openMover().moveBatch(NOW, 10)).rejects.toThrow('closed');
      expect(await setup.statuses()).toEqual({ [id!]: 'PENDING' });
    } finally {
      await setup.database.pool.query('ALTER TABLE bus_messages DROP CONSTRAINT closed');
    }
    expect(await openMover().moveBatch(NOW, 10)).toBe(1);
  });

  it('answers nothing while another mover is at work', async () => {
    await setup.add(1);
    const client = await setup.database.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query('SELECT pg_advisory_xact_lock($1, $2)', [0x6275, 1]);
      expect(await openMover().moveBatch(NOW, 10)).toBe(0);
      await client.query('COMMIT');
    } finally {
      client.release();
    }
    expect(await openMover().moveBatch(NOW, 10)).toBe(1);
  });
});
