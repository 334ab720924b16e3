import { RATE_MICROS_PER_UNIT } from '../../domain/billing/pricing';
import { crashpoint } from '../../ports/crash-points';
import { payloadOf } from '../../ports/messages';
import { consumeOnce, type Consumer } from '../consume';
import type { FlowContext } from '../flow-context';

/**
 * Books what a provider charged the platform for an attempt, once per attempt. The tenant's side was closed with the
 * transition; this is the platform's own cost, later matched with the provider's invoice.
 */
export const createCostConsumer =
  (context: FlowContext): Consumer =>
  async (envelope) => {
    const { attemptId } = payloadOf(envelope, 'billing.cost.observed');
    const { consumed } = await consumeOnce(context, 'billing', envelope, async (tx) => {
      const attempt = await tx.attempts.read(attemptId);
      if (attempt === null || attempt.costAmount === null || attempt.costCurrency === null) return;
      const now = context.clock.now();
      await tx.money.recordProviderCost({
        id: context.ids.next(now),
        providerId: attempt.providerId,
        attemptId: attempt.id,
        jobId: attempt.jobId,
        source: 'ATTEMPT',
        amount: attempt.costAmount,
        currency: attempt.costCurrency,
        rateMicros: RATE_MICROS_PER_UNIT,
        businessKey: `cost:${attempt.id}`,
        now,
      });
      crashpoint('bill.before_commit');
    });
    return consumed;
  };
