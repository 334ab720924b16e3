import { runWorker } from '../../runtime/run-worker';
import { startBillingLoops } from './loops';

runWorker('billing', startBillingLoops);
