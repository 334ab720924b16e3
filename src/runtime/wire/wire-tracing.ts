import { NO_TRACING, type Tracing } from '../../ports/tracing';
import type { Config } from '../config';

/** Traces go to the collector of the configuration, if it names one; only then the library is loaded. */
export const wireTracing = (config: Config, process: string): Tracing => {
  if (config.otlpUrl === null) return NO_TRACING;
  // `import()` would make everything that opens a container wait.
  const { createOtlpTracing } =
    require('../../adapters/telemetry/otlp-tracing') as typeof import('../../adapters/telemetry/otlp-tracing');
  return createOtlpTracing({ url: config.otlpUrl, process });
};
