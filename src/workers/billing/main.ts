import { createCostConsumer } from '../../flow/bill/record-provider-cost';
import { consume } from '../../runtime/parts';
import { runWorker } from '../../runtime/run-worker';

runWorker('billing', async (container) => [
  consume(container, 'billing', 4, {
    'billing.cost.observed': createCostConsumer(container.context),
  }),
]);
