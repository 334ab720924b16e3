import { refuse, type Refusal } from '../../domain/generation/refusals';
import type { SpendLimit, SpendPeriod } from '../../ports/stores/money-store';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';
import {
  act,
  done,
  namingNotFound,
  RefusedAfterWriting,
  type Done,
  type OperatorOrder,
  type Subject,
} from '../operate/operator-action';
import { openAccount } from './open-account';

export type SpendLimitRefusal =
  'TENANT_NOT_FOUND' | 'API_KEY_NOT_FOUND' | 'PERIOD_INVALID' | 'REASON_REQUIRED';

export interface SpendLimitInput extends OperatorOrder {
  readonly tenantId: string;
  /** Null: the budget of the tenant as a whole. */
  readonly apiKeyId: string | null;
  /** Null takes the limit away. */
  readonly limit: { readonly period: SpendPeriod; readonly limitMicros: bigint } | null;
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
  const { tenantId, apiKeyId, limit } = input;
  const acted = await act(
    context,
    'spend_limit.set',
    input,
    (tx) => openLimited(context, tx, input),
    async (tx): Promise<Done<readonly SpendLimit[]> | Refusal<SpendLimitRefusal>> => {
      if (apiKeyId === null && limit !== null && limit.period !== 'MONTH') {
        return refuse('PERIOD_INVALID', 'The budget of an account is monthly.', 'period');
      }
      const now = context.clock.now();
      const id = context.ids.next(now);
      const outcome = await tx.money.setSpendLimit({ id, tenantId, apiKeyId, limit, now });
      if (outcome === 'NO_ACCOUNT') return NO_TENANT;
      // The former limit is gone by then, and comes back with what is undone.
      if (outcome === 'NO_KEY') throw new RefusedAfterWriting(NO_KEY);
      return done(await tx.money.listSpendLimits(tenantId, now), spell(limit) ?? NO_LIMIT);
    },
  );
  const told = namingNotFound(acted, NO_TENANT);
  return told.kind === 'REFUSED' ? told : { kind: 'SET', limits: told.result };
};

const NO_TENANT = refuse<SpendLimitRefusal>(
  'TENANT_NOT_FOUND',
  'There is no such account.',
  'tenantId',
);
const NO_KEY = refuse<SpendLimitRefusal>(
  'API_KEY_NOT_FOUND',
  'The account has no such key.',
  'apiKeyId',
);

const openLimited = async (
  context: FlowContext,
  tx: Stores,
  { tenantId, apiKeyId }: SpendLimitInput,
): Promise<Subject<string> | null> => {
  const account = await openAccount(tx, tenantId);
  if (account === null) return null;
  const limits = await tx.money.listSpendLimits(tenantId, context.clock.now());
  const before = spell(limits.find((each) => each.apiKeyId === apiKeyId) ?? null);
  return apiKeyId === null
    ? { ...account, before }
    : { ...account, kind: 'API_KEY', id: apiKeyId, before };
};

const NO_LIMIT = { period: null, limitMicros: null } as const;

const spell = (limit: SpendLimitInput['limit']): Readonly<Record<string, unknown>> | null =>
  limit === null ? null : { period: limit.period, limitMicros: limit.limitMicros.toString() };
