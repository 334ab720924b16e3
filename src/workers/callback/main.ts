import { startCallbackServer } from '../../runtime/callback-server';
import { runWorker } from '../../runtime/run-worker';

runWorker('callback', async (container) => [await startCallbackServer(container)]);
