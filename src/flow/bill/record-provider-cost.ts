import type { Attempt } from '../../domain/attempt/attempt';
import { ledgerKeys } from '../../domain/billing/outcomes';
import { rateOf } from '../../domain/billing/pricing';
import type { FindingKind } from '../../domain/generation/decision';
import { crashpoint } from '../../ports/crash-points';
import { payloadOf } from '../../ports/messages';
import type { Stores } from '../../ports/unit-of-work';
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
      if (attempt !== null) await recordCost(context, tx, attempt);
      crashpoint('bill.before_commit');
    });
    crashpoint('bill.after_commit_before_ack');
    return consumed;
  };

const recordCost = async (context: FlowContext, tx: Stores, attempt: Attempt): Promise<void> => {
  const { costAmount: amount, costCurrency: currency } = attempt;
  if (amount === null || currency === null) return;
  const rateMicros = rateOf(currency);
  const now = context.clock.now();
  const outcome = await tx.money.recordProviderCost({
    id: context.ids.next(now),
    providerId: attempt.providerId,
    attemptId: attempt.id,
    jobId: attempt.jobId,
    source: 'ATTEMPT',
    amount,
    currency,
    // Kept in its own currency; 0 says that it stands for no credits.
    rateMicros: rateMicros ?? 0n,
    businessKey: ledgerKeys.attemptCost(attempt.id),
    now,
  });
  if (outcome === 'CONFLICT') await recordFinding(context, tx, attempt, 'COST_CONFLICT');
  await tx.attempts.markCostBooked(attempt.id, now);
  if (rateMicros === null) await recordFinding(context, tx, attempt, 'COST_WITHOUT_RATE');
};

/** The books stay as they are: a person looks, and the provider's invoice decides. */
const recordFinding = async (
  context: FlowContext,
  tx: Stores,
  attempt: Attempt,
  kind: FindingKind,
): Promise<void> => {
  const now = context.clock.now();
  await tx.findings.record({
    id: context.ids.next(now),
    kind,
    subjectKind: 'attempt',
    subjectId: attempt.id,
    tenantId: attempt.tenantId,
    detail: {
      taskId: attempt.taskId,
      jobId: attempt.jobId,
      amount: attempt.costAmount,
      currency: attempt.costCurrency,
    },
    actionTaken: null,
    now,
  });
};
