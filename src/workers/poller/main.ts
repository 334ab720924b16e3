import { runWorker } from '../../runtime/run-worker';
import { startPollerLoops } from './loops';

runWorker('poller', startPollerLoops);
