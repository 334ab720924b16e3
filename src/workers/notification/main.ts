import { runWorker } from '../../runtime/run-worker';
import { startNotificationLoops } from './loops';

runWorker('notification', startNotificationLoops);
