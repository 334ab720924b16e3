import { createValidationConsumer } from '../../flow/upload/validate-asset';
import type { Container } from '../../runtime/container';
import { consume } from '../../runtime/parts';
import type { Running } from '../../runtime/run-worker';

export const startAssetValidatorLoops = async (container: Container): Promise<Running[]> => {
  const { objects, moderation, malware, context } = container;
  const deps = { objects, moderation, malware, ...(await container.media()) };
  return [
    consume(container, 'asset-validator', 2, {
      'asset.validation.requested': createValidationConsumer(context, deps),
    }),
  ];
};
