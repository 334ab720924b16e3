import { runWorker } from '../../runtime/run-worker';
import { startReducerLoops } from './loops';

runWorker('reducer', startReducerLoops);
