import { createFetchConsumer } from '../../flow/fetch/fetch-output';
import type { Container } from '../../runtime/container';
import { consume } from '../../runtime/parts';
import type { Running } from '../../runtime/run-worker';

export const startOutputFetchLoops = async (container: Container): Promise<Running[]> => [
  consume(container, 'output-fetch', 8, {
    'output.fetch.requested': createFetchConsumer(container.context, {
      ...container.provider,
      source: container.source,
      objects: container.objects,
    }),
  }),
];
