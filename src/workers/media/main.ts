import { createMediaConsumer } from '../../flow/media/process-media';
import { consume } from '../../runtime/parts';
import { runWorker } from '../../runtime/run-worker';

runWorker('media', async (container) => {
  const { objects, moderation, context } = container;
  const deps = { objects, moderation, ...(await container.media()) };
  return [
    consume(container, 'media', 1, {
      'media.process.requested': createMediaConsumer(context, deps),
    }),
  ];
});
