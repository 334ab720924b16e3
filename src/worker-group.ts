import type { WorkerName } from './domain/stages';
import { WORKERS } from './domain/stages';
import { runWorkers, type StartWorker } from './runtime/run-worker';
import { startAssetValidatorLoops } from './workers/asset-validator/loops';
import { startBillingLoops } from './workers/billing/loops';
import { startCallbackLoops } from './workers/callback/loops';
import { startMediaLoops } from './workers/media/loops';
import { startNotificationLoops } from './workers/notification/loops';
import { startOutboxRelayLoops } from './workers/outbox-relay/loops';
import { startOutputFetchLoops } from './workers/output-fetch/loops';
import { startPollerLoops } from './workers/poller/loops';
import { startProviderLoops } from './workers/provider/loops';
import { startReconcilerLoops } from './workers/reconciler/loops';
import { startReducerLoops } from './workers/reducer/loops';
import { startSchedulerLoops } from './workers/scheduler/loops';

const LOOPS: Readonly<Record<WorkerName, StartWorker>> = {
  'asset-validator': startAssetValidatorLoops,
  'outbox-relay': startOutboxRelayLoops,
  scheduler: startSchedulerLoops,
  provider: startProviderLoops,
  callback: startCallbackLoops,
  poller: startPollerLoops,
  reducer: startReducerLoops,
  'output-fetch': startOutputFetchLoops,
  media: startMediaLoops,
  notification: startNotificationLoops,
  billing: startBillingLoops,
  reconciler: startReconcilerLoops,
};

/** Several workers in one process: its name, then theirs. They still meet only in Postgres and on the bus. */
const [name = 'workers', ...wanted] = process.argv.slice(2);
const members = WORKERS.filter((worker) => wanted.includes(worker));
if (members.length === 0 || members.length !== wanted.length) {
  process.stderr.write(`Name the workers of ${name}, each once: ${WORKERS.join(', ')}\n`);
  process.exit(1);
}
runWorkers(
  name,
  members.map((worker) => ({ name: worker, start: LOOPS[worker] })),
);
