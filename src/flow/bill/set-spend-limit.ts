import { refuse, type Refusal } from '../../domain/generation/refusals';
import type { SpendLimit, SpendPeriod } from '../../ports/stores/money-store';
import type { FlowContext } from '../flow-context';

export type SpendLimitRefusal =
  'TENANT_NOT_FOUND' | 'API_KEY_NOT_FOUND' | 'PERIOD_INVALID' | 'REASON_REQUIRED';

export interface SpendLimitInput {
  readonly tenantId: string;
  /** Null: the budget of the tenant as a whole. */
  readonly apiKeyId: string | null;
  /** Null takes the limit away. */
  readonly limit: { readonly period: SpendPeriod; readonly limitMicros: bigint } | null;
  readonly reason: string;
  readonly actor: string;
}

/**
 * Bounds what a tenant spends in a calendar month, or one of its keys in a month or ever. What was spent before counts,
 * and a limit below it only stops what is new. Audited with the former limit.
 */
export const setSpendLimit = async (
  context: FlowContext,
  input: SpendLimitInput,
): Promise<
  { readonly kind: 'SET'; readonly limits: readonly SpendLimit[] } | Refusal<SpendLimitRefusal>
> => {
  if (input.reason.trim() === '') return refuse('REASON_REQUIRED', 'Say why.', 'reason');
  if (input.apiKeyId === null && input.limit !== null && input.limit.period !== 'MONTH') {
    return refuse('PERIOD_INVALID', 'The budget of an account is monthly.', 'period');
  }
  try {
    const limits = await context.uow.transact(async (tx) => {
      const now = context.clock.now();
      const { tenantId, apiKeyId, limit } = input;
      const outcome = await tx.money.setSpendLimit({
        id: context.ids.next(now),
        ...{ tenantId, apiKeyId, limit, now },
      });
      // Rolled back: a limit that was there stays.
      if (typeof outcome === 'string') throw new NothingToLimit(outcome);
      await tx.audit.record({
        id: context.ids.next(now),
        tenantId,
        actor: input.actor,
        action: 'spend_limit.set',
        subjectKind: apiKeyId === null ? 'TENANT' : 'API_KEY',
        subjectId: apiKeyId ?? tenantId,
        reason: input.reason,
        before: spell(outcome.former),
        after: spell(limit),
        now,
      });
      return tx.money.listSpendLimits(tenantId, now);
    });
    return { kind: 'SET', limits };
  } catch (error) {
    if (!(error instanceof NothingToLimit)) throw error;
    return error.missing === 'NO_KEY'
      ? refuse('API_KEY_NOT_FOUND', 'The account has no such key.', 'apiKeyId')
      : refuse('TENANT_NOT_FOUND', 'There is no such account.', 'tenantId');
  }
};

const spell = (limit: SpendLimitInput['limit']): Readonly<Record<string, unknown>> | null =>
  limit === null ? null : { period: limit.period, limitMicros: limit.limitMicros.toString() };

class NothingToLimit extends Error {
  constructor(readonly missing: 'NO_ACCOUNT' | 'NO_KEY') {
    super(missing);
  }
}
