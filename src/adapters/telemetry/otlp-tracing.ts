import { AsyncLocalStorage } from 'node:async_hooks';

import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  RandomIdGenerator,
  type IdGenerator,
} from '@opentelemetry/sdk-trace-node';

import type { SpanStart, Tracing } from '../../ports/tracing';

export interface OtlpTracingOptions {
  /** Of a collector that takes OTLP over HTTP, without the path. */
  readonly url: string;
  /** Which program of the product this is. */
  readonly process: string;
}

const SEND_TIMEOUT_MS = 5_000;
const TRACE_ID = /^(?!0{32}$)[0-9a-f]{32}$/;

/**
 * Tracing by OpenTelemetry. The id of a request, a UUID, travels with the generation and each of its messages already: it is the trace
 * id, and its second half the id of the trace's first span, so that every process knows both without being told more.
 */
export const createOtlpTracing = (options: OtlpTracingOptions): Tracing => {
  const ids = createIds();
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.name': `aivedio-${options.process}`,
      'service.namespace': 'aivedio',
    }),
    idGenerator: ids.generator,
    spanProcessors: [
      new BatchSpanProcessor(
        new OTLPTraceExporter({
          url: `${options.url}/v1/traces`,
          timeoutMillis: SEND_TIMEOUT_MS,
        }),
      ),
    ],
  });
  const tracer = provider.getTracer('aivedio');
  // Of this object alone: nothing global of the library is touched.
  const around = new AsyncLocalStorage<Context>();

  const begin = ({ name, kind, traceId, attributes }: SpanStart) => {
    const shape = { kind: SpanKind[kind], attributes: { ...attributes } };
    const id = traceId?.replaceAll('-', '') ?? '';
    if (!TRACE_ID.test(id)) {
      const parent = around.getStore();
      return parent === undefined ? null : { span: tracer.startSpan(name, shape, parent), parent };
    }
    const first = { traceId: id, spanId: id.slice(16), traceFlags: TraceFlags.SAMPLED };
    if (kind === 'SERVER') {
      const span = ids.givenTo(first, () => tracer.startSpan(name, shape, ROOT_CONTEXT));
      return { span, parent: ROOT_CONTEXT };
    }
    const parent = trace.setSpanContext(ROOT_CONTEXT, { ...first, isRemote: true });
    return { span: tracer.startSpan(name, shape, parent), parent };
  };

  return {
    span: async (start, work) => {
      const begun = begin(start);
      if (begun === null) return work();
      const { span, parent } = begun;
      try {
        return await around.run(trace.setSpan(parent, span), work);
      } catch (error) {
        // The kind of error alone: its words may repeat what a user wrote.
        const name = error instanceof Error ? error.name : 'Error';
        span.setStatus({ code: SpanStatusCode.ERROR, message: name });
        throw error;
      } finally {
        span.end();
      }
    },
    // A collector that is away must not hold up the end of a process.
    close: () => provider.shutdown().catch(() => undefined),
  };
};

/** Random ids, but for a span that is given its own. */
const createIds = () => {
  const random = new RandomIdGenerator();
  let given: { readonly traceId: string; readonly spanId: string } | null = null;
  const generator: IdGenerator = {
    generateTraceId: () => given?.traceId ?? random.generateTraceId(),
    generateSpanId: () => given?.spanId ?? random.generateSpanId(),
  };
  return {
    generator,
    givenTo: <T>(ids: NonNullable<typeof given>, work: () => T): T => {
      given = ids;
      try {
        return work();
      } finally {
        given = null;
      }
    },
  };
};
