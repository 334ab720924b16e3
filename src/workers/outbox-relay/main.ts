import { runWorker } from '../../runtime/run-worker';
import { startOutboxRelayLoops } from './loops';

runWorker('outbox-relay', startOutboxRelayLoops);
