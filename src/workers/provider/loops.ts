import { createCancelConsumer } from '../../flow/submit/cancel-job';
import { createSubmitConsumer } from '../../flow/submit/submit-attempt';
import type { Container } from '../../runtime/container';
import { consume } from '../../runtime/parts';
import type { Running } from '../../runtime/run-worker';

export const startProviderLoops = async (container: Container): Promise<Running[]> => [
  consume(container, 'provider', 32, {
    'attempt.dispatch.requested': createSubmitConsumer(container.context, container.provider),
    'attempt.cancel.requested': createCancelConsumer(container.context, container.provider),
  }),
];
