import { runWorker } from '../../runtime/run-worker';
import { startCallbackLoops } from './loops';

runWorker('callback', startCallbackLoops);
