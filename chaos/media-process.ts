import { runWorker } from '../src/runtime/run-worker';
import { startMediaLoops } from '../src/workers/media/loops';
import { withMostlyInstantMedia } from './mostly-instant-media';

/** The media worker, but for the tools: most outputs cost no processor time, so that two cores can carry thousands. */
runWorker('media', (container) => startMediaLoops(withMostlyInstantMedia(container)));
