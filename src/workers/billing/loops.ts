import { createCostConsumer } from '../../flow/bill/record-provider-cost';
import { createSettlementConsumer } from '../../flow/bill/settle-later';
import type { Container } from '../../runtime/container';
import { consume } from '../../runtime/parts';
import type { Running } from '../../runtime/run-worker';

export const startBillingLoops = async (container: Container): Promise<Running[]> => [
  consume(container, 'billing', 16, {
    'billing.cost.observed': createCostConsumer(container.context),
    'billing.settlement.requested': createSettlementConsumer(container.context),
  }),
];
