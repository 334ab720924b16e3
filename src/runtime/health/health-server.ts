import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { isReady, type HealthReport } from '../../ports/health';
import type { MetricsPage } from '../../ports/metrics';

export interface HealthServerOptions {
  readonly host: string;
  readonly port: number;
  /** What runs in this process. */
  readonly names: readonly string[];
  readonly read: () => Promise<HealthReport>;
  readonly metrics: MetricsPage;
}

export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * What an orchestrator and a metrics collector ask of a process: `/healthz` answers as long as its event loop turns, `/readyz` says
 * which part is missing, `/metrics` what it counted. For the inner network: it names addresses of back ends.
 */
export const startHealthServer = async (options: HealthServerOptions): Promise<HealthServer> => {
  const server = createServer((request, response) => {
    void answer(options, request.url ?? '/', response).catch(() => response.destroy());
  });
  // Probes come on connections of their own; an open one would hold up the stop.
  server.keepAliveTimeout = 1_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(asReason(options, error)));
    server.listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const answer = async (
  { names, read, metrics }: HealthServerOptions,
  url: string,
  response: ServerResponse,
): Promise<void> => {
  switch (url.replace(/\?.*$/, '')) {
    case '/healthz':
      json(response, 200, { status: 'ok', workers: names });
      return;
    case '/readyz': {
      const report = await read();
      json(response, isReady(report) ? 200 : 503, { ...report, workers: names });
      return;
    }
    case '/metrics':
      response.writeHead(200, { 'content-type': metrics.contentType });
      response.end(await metrics.text());
      return;
    default:
      json(response, 404, { status: 'not found' });
  }
};

const json = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
};

const asReason = (options: HealthServerOptions, error: NodeJS.ErrnoException): Error =>
  error.code === 'EADDRINUSE'
    ? new Error(
        `AIVEDIO_HEALTH_PORT: port ${options.port} on ${options.host} is taken; give each process of a machine its own`,
      )
    : error;
