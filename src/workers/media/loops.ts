import { createMediaConsumer } from '../../flow/media/process-media';
import type { Container } from '../../runtime/container';
import { consume } from '../../runtime/parts';
import type { Running } from '../../runtime/run-worker';

export const startMediaLoops = async (container: Container): Promise<Running[]> => {
  const { objects, moderation, context } = container;
  const deps = { objects, moderation, ...(await container.media()) };
  return [
    consume(container, 'media', 1, {
      'media.process.requested': createMediaConsumer(context, deps),
    }),
  ];
};
