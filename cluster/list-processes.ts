import path from 'node:path';

import { WORKERS, type WorkerName } from '../src/domain/stages';
import { projectRoot } from '../src/runtime/project-root';
import { pickPort } from './pick-port';

const LOCAL = '127.0.0.1';
/** Two of each: whatever holds for two holds for more, and one of them can be lost. */
const OF_EACH = [1, 2];

/** A process of the product and where it answers. */
export interface ClusterProcess {
  /** `scheduler-2`; also its node, so that leases of its life before are taken up at once. */
  readonly name: string;
  readonly kind: 'api' | WorkerName;
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
  /** `/healthz`, `/readyz` and `/metrics` are below it. */
  readonly healthUrl: string;
  /** Where requests or callbacks reach it. */
  readonly port: number | null;
}

/** Two APIs and two of each worker, with ports of their own. */
export const listProcesses = async (
  scripts: Readonly<Partial<Record<WorkerName, string>>>,
): Promise<readonly ClusterProcess[]> => {
  const dist = path.join(projectRoot(), 'dist');
  const processes: ClusterProcess[] = [];
  for (const kind of ['api', ...WORKERS] as const) {
    for (const number of OF_EACH) {
      const name = `${kind}-${number}`;
      const port = kind === 'api' || kind === 'callback' ? await pickPort() : null;
      const healthPort = await pickPort();
      processes.push({
        name,
        kind,
        script:
          kind === 'api'
            ? path.join(dist, 'src/api.js')
            : (scripts[kind] ?? path.join(dist, `src/workers/${kind}/main.js`)),
        env: {
          AIVEDIO_NODE: name,
          AIVEDIO_HEALTH_PORT: String(healthPort),
          ...(kind === 'api' ? { AIVEDIO_HTTP_PORT: String(port) } : {}),
          ...(kind === 'callback' ? { AIVEDIO_CALLBACK_PORT: String(port) } : {}),
        },
        healthUrl: `http://${LOCAL}:${healthPort}`,
        port,
      });
    }
  }
  return processes;
};
