import path from 'node:path';

import { CONSUMER_GROUPS } from '../../../src/ports/messages';
import { METRICS } from '../../../src/ports/metrics';
import { freePort } from '../../../src/runtime/free-port';
import { eventually } from '../../support/eventually';
import { startProduct, type RunningProduct } from '../../support/running-product';

jest.setTimeout(120_000);

const PICTURE = path.join(__dirname, '../../../examples/demo/hills.jpg');
const PROCESSES = ['api', 'workers', 'file-workers'];

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const parse = (text: string): Sample[] =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      return {
        name,
        labels: Object.fromEntries(
          [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', each = '']) => [key, each]),
        ),
        value: Number(value),
      };
    });

describe('the metrics of a product that works', () => {
  let product: RunningProduct;
  let firstPort: number;

  beforeAll(async () => {
    firstPort = await freePort('127.0.0.1', 0);
    product = await startProduct({
      processes: 'grouped',
      configEnv: { AIVEDIO_HEALTH_PORT: String(firstPort) },
    });
  });

  afterAll(() => product.stop());

  const read = async (): Promise<Sample[]> =>
    (
      await Promise.all(
        PROCESSES.map(async (_, index) => {
          const response = await fetch(`http://127.0.0.1:${firstPort + index}/metrics`);
          expect(response.status).toBe(200);
          return parse(await response.text());
        }),
      )
    ).flat();

  const valueOf = (
    samples: readonly Sample[],
    name: string,
    labels: Readonly<Record<string, string>> = {},
  ): number | null => {
    const found = samples.filter(
      (sample) =>
        sample.name === name &&
        Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    );
    return found.length === 0 ? null : found.reduce((sum, { value }) => sum + value, 0);
  };

  it('show what a generation from picture to video did', async () => {
    const imageAssetId = await product.upload(PICTURE);
    const id = await product.create({ imageAssetId });
    expect(await product.untilStatus(id, ['SUCCEEDED', 'FAILED_FINAL'])).toBe('SUCCEEDED');
    const refused = await product.client.request(
      `mutation($input: GenerationCreateInput!) { generationCreate(input: $input) { userErrors { code } } }`,
      { input: { idempotencyKey: 'one', model: 'no-such-model', prompt: 'x' } },
    );
    expect(refused).toBeDefined();
    const sandbox = { provider: 'sandbox' };
    const samples = await eventually('the figures of a queue that is empty again', async () => {
      const now = await read();
      return valueOf(now, 'aivedio_provider_active_jobs', sandbox) === 0 &&
        valueOf(now, 'aivedio_messages_total', { group: 'billing' }) !== null
        ? now
        : null;
    });
    const value = (name: string, labels = {}) => valueOf(samples, name, labels);

    expect(value('aivedio_generations_total', { outcome: 'CREATED' })).toBe(1);
    expect(value('aivedio_generations_total', { outcome: 'MODEL_NOT_FOUND' })).toBe(1);
    expect(value('aivedio_submissions_total', { ...sandbox, outcome: 'ACCEPTED' })).toBe(1);
    expect(value('aivedio_callbacks_total', { ...sandbox, outcome: 'OK' })).toBeGreaterThan(0);
    expect(value('aivedio_callback_lag_seconds_count', sandbox)).toBeGreaterThan(0);
    expect(value('aivedio_provider_request_duration_seconds_count', { operation: 'submit' })).toBe(
      1,
    );
    expect(
      value('aivedio_graphql_operation_duration_seconds_count', { field: 'generationCreate' }),
    ).toBe(2);
    expect(value('aivedio_transactions_total', { outcome: 'COMMITTED' })).toBeGreaterThan(5);
    for (const group of Object.keys(CONSUMER_GROUPS).filter((each) => each !== 'reconciler')) {
      expect([group, value('aivedio_messages_total', { group })]).toEqual([
        group,
        expect.any(Number),
      ]);
    }
    expect(value('aivedio_worker_utilization_ratio', { group: 'media' })).toBe(0);
    expect(value('aivedio_queue_depth')).toBe(0);
    expect(value('aivedio_reserved_credit_age_seconds')).toBe(0);
    expect(value('aivedio_submit_unknown_count', sandbox)).toBe(0);
    expect(value('aivedio_provider_jobs_limit', sandbox)).toBe(4);
    expect(value('aivedio_outbox_oldest_age_seconds')).toBeLessThan(5);
    expect(value('aivedio_output_fetch_backlog')).toBe(0);
    expect(value('aivedio_output_url_expiry_risk')).toBe(0);
    expect(value('aivedio_media_backlog')).toBe(0);
    expect(value('aivedio_orphan_object_count')).toBe(0);
    expect(value('aivedio_part_up', { part: 'database' })).toBe(PROCESSES.length);
    expect(value('aivedio_nodejs_heap_size_used_bytes')).toBeGreaterThan(0);
  });

  it('are those of the list, with labels that are bounded, and nothing of a tenant', async () => {
    const samples = await read();
    const own = samples.filter(({ name }) => !/^aivedio_(process|nodejs)_/.test(name));
    const known = Object.entries(METRICS).flatMap(([name, { kind, labels }]) =>
      (kind === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]).map(
        (each) => [each, [...labels, 'process', 'le']] as const,
      ),
    );
    const labelsOf = new Map<string, readonly string[]>(known);
    for (const { name, labels } of own) {
      expect(labelsOf.get(name)).toEqual(expect.arrayContaining(Object.keys(labels)));
      for (const label of Object.values(labels)) {
        expect(label).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}|(gen|ten|att|ast)_/);
      }
    }
    expect(own.length).toBeGreaterThan(100);
  });

  it('do not stand on the public port when they have one of their own', async () => {
    expect((await fetch(`${product.platform.publicUrl}/metrics`)).status).toBe(404);
  });

  it('tell of a queue that cannot move', async () => {
    await product.pool.query(`UPDATE provider_accounts SET status = 'PAUSED'`);
    await eventually(
      'a waiting generation with its age and its reservation',
      async () => {
        // The scheduler remembers an account for a second: what it still let through is no longer waiting.
        await product.create();
        const samples = await read();
        const figures = [
          'aivedio_queue_depth',
          'aivedio_queue_age_p95_seconds',
          'aivedio_reserved_credit_age_seconds',
        ].map((name) => valueOf(samples, name) ?? 0);
        return figures.every((value) => value > 0) ? true : null;
      },
      60_000,
      1_000,
    );
  });
});
