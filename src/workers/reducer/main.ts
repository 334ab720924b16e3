import { createReducer } from '../../flow/reduce/reduce-observation';
import { consume } from '../../runtime/parts';
import { runWorker } from '../../runtime/run-worker';

runWorker('reducer', async (container) => [
  consume(container, 'reducer', 8, {
    'provider.status.observed': createReducer(container.context, container.slots),
  }),
]);
