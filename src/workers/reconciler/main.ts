import { runWorker } from '../../runtime/run-worker';
import { startReconcilerLoops } from './loops';

runWorker('reconciler', startReconcilerLoops);
