import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

import {
  METRICS,
  type Figure,
  type GaugeName,
  type MetricName,
  type Metrics,
  type MetricsPage,
} from '../../ports/metrics';

/** From a statement of the database to a render of minutes. */
const BUCKETS_SECONDS = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900];
const LOOK_AGE_MS = 5_000;

export interface PromMetricsOptions {
  /** Stands on every line, so that processes of one machine can be told apart. */
  readonly process: string;
  readonly onLookFailed: (error: unknown) => void;
  /** Milliseconds that never go back. */
  readonly nowMs?: () => number;
}

/** Metrics of one process, in a registry of its own. A metric shows from its first value on. */
export const createPromMetrics = (options: PromMetricsOptions): Metrics & MetricsPage => {
  const registry = new Registry();
  registry.setDefaultLabels({ process: options.process });
  collectDefaultMetrics({ register: registry, prefix: 'aivedio_' });
  const made = new Map<MetricName, Counter | Gauge | Histogram>();
  const looks: (() => Promise<void>)[] = [];

  const metricOf = <T extends Counter | Gauge | Histogram>(name: MetricName): T => {
    const known = made.get(name);
    if (known !== undefined) return known as T;
    const { kind, help, labels } = METRICS[name];
    const shape = { name, help, labelNames: [...labels], registers: [registry] };
    const metric =
      kind === 'counter'
        ? new Counter(shape)
        : kind === 'gauge'
          ? new Gauge(shape)
          : new Histogram({ ...shape, buckets: BUCKETS_SECONDS });
    made.set(name, metric);
    return metric as T;
  };
  const setFigures = (names: readonly GaugeName[], figures: readonly Figure[]): void => {
    for (const name of names) metricOf<Gauge>(name).reset();
    for (const { name, label, value } of figures) {
      const [labelName] = METRICS[name].labels;
      metricOf<Gauge>(name).set(labelName === undefined ? {} : { [labelName]: label ?? '' }, value);
    }
  };

  return {
    contentType: registry.contentType,
    text: async () => {
      await Promise.all(looks.map((look) => look()));
      return registry.metrics();
    },
    count: (name, labels) => metricOf<Counter>(name).inc(labels),
    observe: (name, labels, seconds) => metricOf<Histogram>(name).observe(labels, seconds),
    set: (name, labels, value) => metricOf<Gauge>(name).set(labels, value),
    look: (names, read) => {
      looks.push(
        atMostEvery(LOOK_AGE_MS, options.nowMs ?? (() => performance.now()), async () => {
          try {
            setFigures(names, await read());
          } catch (error) {
            // A gauge without labels would show 0 after a reset: gone is the truth, and an alert sees it.
            for (const name of names) {
              registry.removeSingleMetric(name);
              made.delete(name);
            }
            options.onLookFailed(error);
          }
        }),
      );
    },
  };
};

const atMostEvery = (
  ageMs: number,
  nowMs: () => number,
  work: () => Promise<void>,
): (() => Promise<void>) => {
  let last = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | null = null;
  return () => {
    if (running !== null) return running;
    if (nowMs() - last < ageMs) return Promise.resolve();
    running = work().finally(() => {
      last = nowMs();
      running = null;
    });
    return running;
  };
};
