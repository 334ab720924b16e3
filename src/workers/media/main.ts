import { runWorker } from '../../runtime/run-worker';
import { startMediaLoops } from './loops';

runWorker('media', startMediaLoops);
