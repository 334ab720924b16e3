import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { eventually } from '../support/eventually';
import { startProduct, type RunningProduct } from '../support/running-product';
import { expectOneJobOneCharge } from './one-job-one-charge';

/** As `npm start` spreads the workers on a small machine. */
describe('several workers in one process', () => {
  let product: RunningProduct;

  beforeAll(async () => {
    product = await startProduct({ processes: 'grouped' });
  }, 120_000);

  afterAll(async () => {
    await product.stop();
  }, 60_000);

  const kill = async (name: string): Promise<void> => {
    const { supervisor } = product.platform;
    const old = supervisor.pidOf(name);
    if (old === null) throw new Error(`${name} does not run`);
    process.kill(old, 'SIGKILL');
    await eventually(
      `${name} runs again`,
      () => {
        const pid = supervisor.pidOf(name);
        return pid !== null && pid !== old ? pid : null;
      },
      30_000,
    );
  };

  test.each([
    ['workers', ['QUEUED', 'DISPATCHING']],
    ['workers', ['SUBMITTED', 'RUNNING']],
    ['file-workers', ['RUNNING', 'OUTPUT_FETCHING']],
    ['file-workers', ['POST_PROCESSING']],
  ] as const)(
    '%s killed with SIGKILL at %j: one job, one RESERVE, one SETTLE, SUCCEEDED',
    async (name, statuses) => {
      const id = await product.create();
      await product.untilStatus(id, [
        ...statuses,
        'OUTPUT_FETCHING',
        'POST_PROCESSING',
        'SUCCEEDED',
      ]);
      await kill(name);
      await expectOneJobOneCharge(product, id);
    },
    150_000,
  );

  test('the process is found by the name of any worker in it, and its log names them', async () => {
    const { supervisor, processes } = product.platform;
    expect(supervisor.pidOf('reducer')).toBe(supervisor.pidOf('workers'));
    expect(supervisor.pidOf('media')).toBe(supervisor.pidOf('file-workers'));
    expect(supervisor.pidOf('media')).not.toBe(supervisor.pidOf('reducer'));
    for (const { name, workers } of processes) {
      const log = await readFile(path.join(product.dataDir, 'logs', `${name}.log`), 'utf8');
      expect(log).toContain(`"workers":${JSON.stringify(workers)}`);
    }
  });
});
