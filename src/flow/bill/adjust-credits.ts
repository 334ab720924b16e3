import { ledgerKeys } from '../../domain/billing/outcomes';
import { refuse, type Refusal } from '../../domain/generation/refusals';
import { MICROS_MAX } from '../../domain/kernel/money';
import type { Balance } from '../../ports/stores/money-store';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';

export type AdjustRefusal =
  | 'SUBJECT_NOT_FOUND'
  | 'AMOUNT_INVALID'
  | 'REASON_REQUIRED'
  | 'REFERENCE_CONFLICT'
  | 'INSUFFICIENT_CREDITS'
  | 'OVER_LIMIT'
  | 'BALANCE_TOO_LARGE';

export interface AdjustInput {
  readonly subject:
    | { readonly kind: 'TENANT'; readonly tenantId: string }
    | { readonly kind: 'ATTEMPT'; readonly attemptId: string };
  /** On what the tenant can spend: below 0 takes from it. */
  readonly deltaMicros: bigint;
  readonly reference: string;
  readonly reason: string;
  readonly actor: string;
}

export type AdjustResult =
  | {
      readonly kind: 'ADJUSTED';
      readonly repeated: boolean;
      readonly tenantId: string;
      readonly balance: Balance;
    }
  | Refusal<AdjustRefusal>;

/**
 * A person corrects what a tenant can spend, up or down, once a reference (docs/decisions/0012). It never takes the
 * account below zero, never changes a hold, never gives back more of a generation than it was charged, and is audited.
 */
export const adjustCredits = async (
  context: FlowContext,
  input: AdjustInput,
): Promise<AdjustResult> => {
  if (input.reason.trim() === '') return refuse('REASON_REQUIRED', 'Say why.', 'reason');
  if (
    input.deltaMicros === 0n ||
    input.deltaMicros > MICROS_MAX ||
    input.deltaMicros < -MICROS_MAX
  ) {
    return refuse('AMOUNT_INVALID', 'Correct by more than 0.', 'amount');
  }
  return context.uow.transact(async (tx): Promise<AdjustResult> => {
    const subject = await readSubject(tx, input.subject);
    if (subject === null) {
      return refuse('SUBJECT_NOT_FOUND', 'There is no such account or attempt.', 'subject');
    }
    const now = context.clock.now();
    const before = await tx.money.readBalance(subject.tenantId);
    const outcome = await tx.money.adjust({
      ...subject,
      deltaMicros: input.deltaMicros,
      businessKey: ledgerKeys.adjustmentByReference(
        subject.attemptId ?? subject.tenantId,
        input.reference,
      ),
      reason: input.reason,
      actor: input.actor,
      entryId: context.ids.next(now),
      now,
    });
    switch (outcome) {
      case 'NO_ACCOUNT':
        return refuse('SUBJECT_NOT_FOUND', 'The tenant has no account.', 'subject');
      case 'CONFLICT':
        return refuse(
          'REFERENCE_CONFLICT',
          'This reference stands for another amount; use a new one.',
          'reference',
        );
      case 'INSUFFICIENT_CREDITS':
        return refuse(outcome, 'The account has less than that.', 'amount');
      case 'OVER_LIMIT':
        return refuse(
          outcome,
          'More than is left of what the generation was charged; correct the account instead.',
          'amount',
        );
      case 'BALANCE_TOO_LARGE':
        return refuse(outcome, 'The account cannot hold so much.', 'amount');
      case 'CREATED':
      case 'REPLAY':
    }
    const balance = await tx.money.readBalance(subject.tenantId);
    if (balance === null) throw new Error('The account just corrected cannot be read');
    if (outcome === 'CREATED') {
      await recordAdjustment(context, tx, input, subject.tenantId, before, balance);
    }
    const { tenantId } = subject;
    return { kind: 'ADJUSTED', repeated: outcome === 'REPLAY', tenantId, balance };
  });
};

const readSubject = async (
  tx: Stores,
  subject: AdjustInput['subject'],
): Promise<{ tenantId: string; taskId: string | null; attemptId: string | null } | null> => {
  if (subject.kind === 'TENANT') {
    const tenant = await tx.catalog.readTenant(subject.tenantId);
    return tenant === null ? null : { tenantId: tenant.id, taskId: null, attemptId: null };
  }
  const attempt = await tx.attempts.read(subject.attemptId);
  return attempt === null
    ? null
    : { tenantId: attempt.tenantId, taskId: attempt.taskId, attemptId: attempt.id };
};

const recordAdjustment = async (
  context: FlowContext,
  tx: Stores,
  input: AdjustInput,
  tenantId: string,
  before: Balance | null,
  after: Balance,
): Promise<void> => {
  const now = context.clock.now();
  await tx.audit.record({
    id: context.ids.next(now),
    tenantId,
    actor: input.actor,
    action: 'credits.adjust',
    subjectKind: input.subject.kind,
    subjectId: input.subject.kind === 'TENANT' ? tenantId : input.subject.attemptId,
    reason: input.reason,
    before: { availableMicros: before?.availableMicros.toString() ?? null },
    after: {
      availableMicros: after.availableMicros.toString(),
      deltaMicros: input.deltaMicros.toString(),
      reference: input.reference,
    },
    now,
  });
};
