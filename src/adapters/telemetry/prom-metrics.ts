import { collectDefaultMetrics, Registry } from 'prom-client';

import type { MetricsPage } from '../../ports/metrics';

/** Metrics of one process, in a registry of its own. */
export const createPromMetrics = (process: string): MetricsPage => {
  const registry = new Registry();
  registry.setDefaultLabels({ process });
  collectDefaultMetrics({ register: registry, prefix: 'aivedio_' });
  return { contentType: registry.contentType, text: () => registry.metrics() };
};
