import { runWorker } from '../../runtime/run-worker';
import { startOutputFetchLoops } from './loops';

runWorker('output-fetch', startOutputFetchLoops);
