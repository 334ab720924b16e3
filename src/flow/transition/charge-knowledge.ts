import type { Attempt } from '../../domain/attempt/attempt';
import { costToMicros, rateOf } from '../../domain/billing/pricing';
import type { ChargeKnowledge } from '../../domain/billing/settlement';
import { assertNever } from '../../domain/kernel/assert-never';

/** What the attempt says about the provider's charge at the moment the generation ends. */
export const chargeKnowledgeOf = (attempt: Attempt | null): ChargeKnowledge => {
  if (attempt === null) return { kind: 'NOT_SUBMITTED' };
  if (attempt.costAmount !== null) {
    const rateMicros = rateOf(attempt.costCurrency ?? '');
    // Charged, but nobody can say how much: as unknown as a charge that was never told.
    if (rateMicros === null) return { kind: 'UNKNOWN' };
    const costMicros = costToMicros(attempt.costAmount, rateMicros);
    return costMicros === 0n ? { kind: 'NOT_CHARGED' } : { kind: 'CHARGED', costMicros };
  }
  switch (attempt.status) {
    case 'NEW':
    case 'FAILED_BEFORE_ACCEPT':
      return { kind: 'NOT_SUBMITTED' };
    case 'FAILED':
      // A provider that charges for failures says so in the job; silence is not a charge.
      return { kind: 'NOT_CHARGED' };
    case 'CANCELED':
      return attempt.jobId === null ? { kind: 'NOT_SUBMITTED' } : { kind: 'UNKNOWN' };
    case 'SENDING':
    case 'UNKNOWN':
    case 'ABANDONED':
    case 'ACKED':
    case 'RUNNING':
    case 'SUCCEEDED':
      return { kind: 'UNKNOWN' };
    default:
      return assertNever(attempt.status, 'attempt status');
  }
};
