import { runWorker } from '../../runtime/run-worker';
import { startSchedulerLoops } from './loops';

runWorker('scheduler', startSchedulerLoops);
