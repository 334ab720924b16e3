import { runWorker } from '../../runtime/run-worker';
import { startProviderLoops } from './loops';

runWorker('provider', startProviderLoops);
