import { runWorker } from '../../runtime/run-worker';
import { startAssetValidatorLoops } from './loops';

runWorker('asset-validator', startAssetValidatorLoops);
