import { ledgerKeys } from '../../domain/billing/outcomes';
import { refuse, type Refusal } from '../../domain/generation/refusals';
import { MICROS_PER_CREDIT } from '../../domain/kernel/money';
import { crashpoint } from '../../ports/crash-points';
import type { Balance } from '../../ports/stores/money-store';
import type { FlowContext } from '../flow-context';

export type GrantRefusal =
  | 'TENANT_NOT_FOUND'
  | 'AMOUNT_INVALID'
  | 'BALANCE_TOO_LARGE'
  | 'REASON_REQUIRED'
  | 'REFERENCE_CONFLICT';

/** One grant; far below what a balance can hold, so that a slip of the hand is refused. */
const GRANT_CREDITS_MAX = 1_000_000_000n;

/** Adds credits to an account, once for each reference, with a trace of who and why. A repeat changes nothing. */
export const grantCredits = async (
  context: FlowContext,
  input: {
    readonly tenantId: string;
    readonly amountMicros: bigint;
    readonly reference: string;
    readonly reason: string;
    readonly actor: string;
  },
): Promise<
  | { readonly kind: 'GRANTED'; readonly repeated: boolean; readonly balance: Balance }
  | Refusal<GrantRefusal>
> => {
  if (input.reason.trim() === '') return refuse('REASON_REQUIRED', 'Say why.', 'reason');
  if (input.amountMicros <= 0n) return refuse('AMOUNT_INVALID', 'Grant more than 0.', 'amount');
  if (input.amountMicros > GRANT_CREDITS_MAX * MICROS_PER_CREDIT) {
    return refuse(
      'AMOUNT_INVALID',
      `Grant at most ${GRANT_CREDITS_MAX} credits at once.`,
      'amount',
    );
  }
  return context.uow.transact(async (tx) => {
    if ((await tx.catalog.readTenant(input.tenantId)) === null) {
      return refuse('TENANT_NOT_FOUND', 'There is no such account.', 'tenantId');
    }
    const now = context.clock.now();
    const outcome = await tx.money.grant({
      tenantId: input.tenantId,
      amountMicros: input.amountMicros,
      businessKey: ledgerKeys.grant(input.tenantId, input.reference),
      reason: input.reason,
      actor: input.actor,
      entryId: context.ids.next(now),
      now,
    });
    if (outcome === 'BALANCE_TOO_LARGE') {
      return refuse('BALANCE_TOO_LARGE', 'The account cannot hold so much.', 'amount');
    }
    if (outcome === 'CONFLICT') {
      return refuse(
        'REFERENCE_CONFLICT',
        'This reference stands for another amount; use a new one.',
        'reference',
      );
    }
    if (outcome === 'CREATED') await recordGrant(context, tx, input, now);
    const balance = await tx.money.readBalance(input.tenantId);
    if (balance === null) throw new Error('The account just credited cannot be read');
    crashpoint('operator.after_grant_before_commit');
    return { kind: 'GRANTED', repeated: outcome === 'REPLAY', balance };
  });
};

const recordGrant = async (
  context: FlowContext,
  tx: Parameters<Parameters<FlowContext['uow']['transact']>[0]>[0],
  input: Parameters<typeof grantCredits>[1],
  now: Date,
): Promise<void> => {
  await tx.audit.record({
    id: context.ids.next(now),
    tenantId: input.tenantId,
    actor: input.actor,
    action: 'credits.grant',
    subjectKind: 'TENANT',
    subjectId: input.tenantId,
    reason: input.reason,
    before: null,
    after: { amountMicros: input.amountMicros.toString(), reference: input.reference },
    now,
  });
};
