import path from 'node:path';

import { startEmbeddedPostgres } from '../../src/adapters/postgres/embedded';
import { eventually } from '../support/eventually';
import { startProduct, type RunningProduct } from '../support/running-product';
import { expectOneJobOneCharge } from './one-job-one-charge';

const AWAY_MS = 20_000;

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('Postgres stopped for 20 seconds in the middle of a generation', () => {
  let product: RunningProduct;

  beforeAll(async () => {
    product = await startProduct({ healDatabase: false });
  }, 120_000);

  afterAll(async () => {
    await product.stop();
  }, 60_000);

  test('no process needs a restart: one job, one RESERVE, one SETTLE, SUCCEEDED', async () => {
    const names = ['api', 'scheduler', 'provider', 'callback', 'reducer', 'media', 'outbox-relay'];
    const pids = names.map((name) => product.platform.supervisor.pidOf(name));
    const id = await product.create({ durationMs: 4000 });
    await product.untilStatus(id, ['SUBMITTED', 'RUNNING']);

    const options = {
      dataDir: path.join(product.dataDir, 'postgres'),
      log: { info: () => undefined, warn: () => undefined },
    };
    const { pid } = await startEmbeddedPostgres(options);
    process.kill(pid, 'SIGINT');
    const goneAt = await eventually(
      'Postgres is gone',
      () => (isAlive(pid) ? null : Date.now()),
      30_000,
    );
    const refused = await product.client.request('{ balance { available } }', {});
    expect(refused.status).toBe(503);
    expect(refused.errors[0]?.extensions).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      retryable: true,
    });
    await eventually(
      '20 s have passed',
      () => (Date.now() - goneAt > AWAY_MS ? true : null),
      AWAY_MS * 2,
    );
    const back = await startEmbeddedPostgres(options);
    try {
      await expectOneJobOneCharge(product, id);
      expect(names.map((name) => product.platform.supervisor.pidOf(name))).toEqual(pids);
    } finally {
      await product.pool.end();
      await back.stop();
    }
  }, 180_000);
});
