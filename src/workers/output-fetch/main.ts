import { createFetchConsumer } from '../../flow/fetch/fetch-output';
import { consume } from '../../runtime/parts';
import { runWorker } from '../../runtime/run-worker';

runWorker('output-fetch', async (container) => [
  consume(container, 'output-fetch', 4, {
    'output.fetch.requested': createFetchConsumer(container.context, {
      ...container.provider,
      source: container.source,
      objects: container.objects,
    }),
  }),
]);
