import { createCancelConsumer } from '../../flow/submit/cancel-job';
import { createSubmitConsumer } from '../../flow/submit/submit-attempt';
import { consume } from '../../runtime/parts';
import { runWorker } from '../../runtime/run-worker';

runWorker('provider', async (container) => [
  consume(container, 'provider', 16, {
    'attempt.dispatch.requested': createSubmitConsumer(container.context, container.provider),
    'attempt.cancel.requested': createCancelConsumer(container.context, container.provider),
  }),
]);
