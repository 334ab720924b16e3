import { createValidationConsumer } from '../../flow/upload/validate-asset';
import { consume } from '../../runtime/parts';
import { runWorker } from '../../runtime/run-worker';

runWorker('asset-validator', async (container) => {
  const { objects, moderation, malware, context } = container;
  const deps = { objects, moderation, malware, ...(await container.media()) };
  return [
    consume(container, 'asset-validator', 2, {
      'asset.validation.requested': createValidationConsumer(context, deps),
    }),
  ];
});
