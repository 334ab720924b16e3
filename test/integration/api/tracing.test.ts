import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { createPostgresBus } from '../../../src/adapters/postgres/bus/postgres-bus';
import { createPostgresOutboxMover } from '../../../src/adapters/postgres/bus/outbox-mover';
import { createSandboxGateway } from '../../../src/adapters/provider/sandbox/gateway';
import { createOtlpTracing } from '../../../src/adapters/telemetry/otlp-tracing';
import { createPromMetrics } from '../../../src/adapters/telemetry/prom-metrics';
import { APPLIED } from '../../../src/flow/consume';
import type { Tracing } from '../../../src/ports/tracing';
import { startConsumer } from '../../../src/runtime/consumer';
import { meteredGateway } from '../../../src/runtime/metered-gateway';
import { openRebuildablePool } from '../../contract/open-rebuildable-pool';
import { eventually } from '../../support/eventually';
import { CREATE, REQUEST, useOwnApi } from './support/running-api';

const open = useOwnApi();
const PROMPT = 'a canary in a mine';

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly service: string;
}

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: {
      readonly attributes: readonly { key: string; value: { stringValue?: string } }[];
    };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<Span, 'service'>[] }[];
  }[];
}

let collector: Server;
let collectorUrl: string;
const spans: Span[] = [];
let received = '';

beforeAll(async () => {
  collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      received += text;
      for (const { resource, scopeSpans } of (JSON.parse(text) as Sent).resourceSpans) {
        const name = resource.attributes.find(({ key }) => key === 'service.name');
        const service = name?.value.stringValue ?? '';
        for (const each of scopeSpans) {
          spans.push(...each.spans.map((span) => ({ ...span, service })));
        }
      }
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  collectorUrl = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
});

afterAll(() => {
  collector.close();
  collector.closeAllConnections();
});

const tracingOf = (process: string, url = collectorUrl): Tracing =>
  createOtlpTracing({ url, process });

describe('a trace', () => {
  it('goes from the mutation through the queue to the call of the provider', async () => {
    const apiTracing = tracingOf('api');
    const workerTracing = tracingOf('scheduler');
    const api = await open({ tracing: apiTracing });
    const pool = openRebuildablePool(api.database.url);
    const { clock, log } = api.context;
    const bus = createPostgresBus({ pool, log, deliveriesMax: 5 });
    const metrics = createPromMetrics({ process: 'test', onLookFailed: () => undefined });
    const limits = { connectTimeoutMs: 500, tlsTimeoutMs: 500, headersTimeoutMs: 500 };
    const sandbox = createSandboxGateway({ ...limits, totalTimeoutMs: 1_000, clock });
    const gateway = meteredGateway('sandbox', sandbox, metrics, workerTracing);
    const account = { id: 'a', baseUrl: 'http://127.0.0.1:1', apiKey: 'k', webhookSecrets: [] };
    let handled = 0;
    const consumer = startConsumer({
      ...{ group: 'scheduler', bus, clock, log, metrics, tracing: workerTracing },
      ...{ concurrency: 2, leaseMs: 10_000, slowPollMs: 50, drainMs: 5_000, random: () => 0 },
      listen: () => Promise.resolve(() => Promise.resolve()),
      handlers: {
        'generation.queued': async () => {
          await gateway.query(account, 'job');
          handled += 1;
          return APPLIED;
        },
      },
    });
    const variables = { input: { ...REQUEST, prompt: PROMPT, idempotencyKey: 'traced' } };
    try {
      const answer = await api.ask(CREATE, variables);
      const requestId = answer.headers.get('x-request-id') ?? '';
      await createPostgresOutboxMover({ pool }).moveBatch(clock.now(), 10);
      await eventually('the message is handled', () => (handled > 0 ? true : null));
      await consumer.stop();
      await Promise.all([apiTracing.close(), workerTracing.close()]);
      const trace = requestId.replaceAll('-', '');
      const of = (name: string) =>
        spans.find((span) => span.name === name && span.traceId === trace);
      const mutation = of('POST /graphql');
      const message = of('scheduler generation.queued');
      const call = of('sandbox query');
      expect(mutation).toMatchObject({ service: 'aivedio-api', spanId: trace.slice(16) });
      expect(mutation?.parentSpanId ?? '').toBe('');
      expect(message).toMatchObject({
        service: 'aivedio-scheduler',
        parentSpanId: mutation?.spanId,
      });
      expect(call).toMatchObject({ service: 'aivedio-scheduler', parentSpanId: message?.spanId });
      expect(received).not.toContain(PROMPT);
    } finally {
      await consumer.stop();
      await sandbox.close();
      await pool.end();
    }
  });

  it('says of a failure its kind and not its words, and passes it on', async () => {
    const tracing = tracingOf('api');
    const traceId = '0190b5a0-7a40-7c3e-8f00-3c1d2e4f5a6b';
    const work = () => Promise.reject(new TypeError(PROMPT));
    await expect(
      tracing.span({ name: 'failing', kind: 'CONSUMER', traceId }, work),
    ).rejects.toThrow(PROMPT);
    await tracing.close();
    expect(spans).toContainEqual(
      expect.objectContaining({ name: 'failing', status: { code: 2, message: 'TypeError' } }),
    );
    expect(received).not.toContain(PROMPT);
  });

  it('costs no work and no end of a process when the collector is away', async () => {
    const tracing = tracingOf('api', 'http://127.0.0.1:1');
    const traceId = '0190b5a0-7a40-7c3e-8f00-3c1d2e4f5a6b';
    const span = { name: 'lonely', kind: 'SERVER', traceId } as const;
    await expect(tracing.span(span, () => Promise.resolve(7))).resolves.toBe(7);
    await expect(
      tracing.span({ name: 'outside', kind: 'CLIENT' }, () => Promise.resolve(8)),
    ).resolves.toBe(8);
    await tracing.close();
  });
});
