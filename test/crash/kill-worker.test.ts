import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { startEmbeddedPostgres } from '../../src/adapters/postgres/embedded';
import { toUuid } from '../../src/resolvers/public-id';
import { eventually } from '../support/eventually';
import { startProduct, type RunningProduct } from '../support/running-product';
import { expectOneJobOneCharge } from './one-job-one-charge';

const PICTURE = path.join(__dirname, '../../examples/demo/hills.jpg');

/** Each worker, and the status at which its death hurts most. */
const DEATHS = [
  ['outbox-relay', ['QUEUED', 'DISPATCHING']],
  ['scheduler', ['QUEUED', 'DISPATCHING']],
  ['provider', ['DISPATCHING', 'SUBMITTED']],
  ['callback', ['SUBMITTED', 'RUNNING']],
  ['poller', ['SUBMITTED', 'RUNNING']],
  ['reducer', ['RUNNING']],
  ['output-fetch', ['RUNNING', 'OUTPUT_FETCHING']],
  ['media', ['POST_PROCESSING']],
  ['notification', ['RUNNING']],
  ['billing', ['POST_PROCESSING']],
  ['reconciler', ['RUNNING']],
  ['api', ['RUNNING']],
] as const;

describe('a process killed with SIGKILL in the middle of a generation', () => {
  let product: RunningProduct;

  beforeAll(async () => {
    product = await startProduct();
    // The sandbox lists a job from the moment it has it: an absence needs no long proof here.
    await product.pool.query(
      'UPDATE providers SET create_settles_ms = 1500, absence_grace_ms = 1500',
    );
  }, 120_000);

  afterAll(async () => {
    await product.stop();
  }, 60_000);

  const kill = async (name: string): Promise<number> => {
    const pid = product.platform.supervisor.pidOf(name);
    if (pid === null) throw new Error(`${name} does not run`);
    process.kill(pid, 'SIGKILL');
    return pid;
  };

  const untilRestarted = (name: string, oldPid: number): Promise<number> =>
    eventually(
      `${name} runs again`,
      () => {
        const pid = product.platform.supervisor.pidOf(name);
        return pid !== null && pid !== oldPid ? pid : null;
      },
      30_000,
    );

  test.each(DEATHS)(
    '%s killed at %j: one job, one RESERVE, one SETTLE, SUCCEEDED',
    async (name, statuses) => {
      const id = await product.create();
      await product.untilStatus(id, [
        ...statuses,
        'OUTPUT_FETCHING',
        'POST_PROCESSING',
        'SUCCEEDED',
      ]);
      const old = await kill(name);
      await untilRestarted(name, old);
      await expectOneJobOneCharge(product, id);
    },
    150_000,
  );

  test('asset-validator killed while it validates: the asset is READY and used', async () => {
    const uploading = product.upload(PICTURE);
    const old = await kill('asset-validator');
    await untilRestarted('asset-validator', old);
    const imageAssetId = await uploading;
    const id = await product.create({ imageAssetId });
    await expectOneJobOneCharge(product, id);
  }, 150_000);

  test('Postgres killed with SIGKILL: it is started again, and the generation goes on', async () => {
    const id = await product.create();
    await product.untilStatus(id, ['SUBMITTED', 'RUNNING']);
    const { pid } = await startEmbeddedPostgres({
      dataDir: path.join(product.dataDir, 'postgres'),
      log: { info: () => undefined, warn: () => undefined },
    });
    process.kill(pid, 'SIGKILL');
    await expectOneJobOneCharge(product, id);
  }, 150_000);

  test('a second start on the same data folder is refused and changes nothing', async () => {
    const state = await readFile(path.join(product.dataDir, 'runtime.json'), 'utf8');
    const again = spawnSync(process.execPath, [path.join(__dirname, '../../dist/src/start.js')], {
      env: {
        ...process.env,
        AIVEDIO_DATA_DIR: product.dataDir,
        AIVEDIO_HTTP_PORT: '0',
        AIVEDIO_CALLBACK_PORT: '0',
      },
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect({ code: again.status, said: again.stderr }).toEqual({
      code: 1,
      said: expect.stringMatching(/runs already on .*process \d+/) as string,
    });
    expect(await readFile(path.join(product.dataDir, 'runtime.json'), 'utf8')).toBe(state);
  }, 90_000);

  test('the provider worker killed between the answer and its row: the job is found, not sent again', async () => {
    const id = await product.create({ providerOptions: { fault: 'answer_lost' } });
    await expectOneJobOneCharge(product, id);
    const { rows } = await product.pool.query<{ type: string }>(
      "SELECT type FROM task_state_events WHERE task_id = $1 AND type IN ('submit_ambiguous', 'provider_job_found')",
      [toUuid('generation', id)],
    );
    expect(rows.map((row) => row.type)).toContain('provider_job_found');
  }, 150_000);
});
