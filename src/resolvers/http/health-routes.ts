import { Router } from 'express';

import { isReady } from '../../ports/health';
import type { ApiDeps } from '../api-deps';

/**
 * Liveness, readiness and metrics on the port of the API. Anybody may reach it, so `/readyz` names parts and keeps to itself
 * what they said: addresses stand in the log and on the health port.
 */
export const createHealthRoutes = ({
  health,
  metricsPage,
}: Pick<ApiDeps, 'health' | 'metricsPage'>): Router => {
  const routes = Router();
  routes.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' });
  });
  routes.get('/readyz', async (_request, response) => {
    const report = await health.read();
    response
      .status(isReady(report) ? 200 : 503)
      .set('cache-control', 'no-store')
      .json({
        status: report.status,
        parts: report.parts.map(({ name, ok, weight }) => ({ name, ok, weight })),
      });
  });
  if (metricsPage !== null) {
    routes.get('/metrics', async (_request, response) => {
      const text = await metricsPage.text();
      response.set('content-type', metricsPage.contentType).send(text);
    });
  }
  return routes;
};
