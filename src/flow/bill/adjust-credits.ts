import { ledgerKeys, type AdjustOutcome } from '../../domain/billing/outcomes';
import { refuse, type Refusal } from '../../domain/generation/refusals';
import { MICROS_MAX } from '../../domain/kernel/money';
import type { Balance } from '../../ports/stores/money-store';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';
import {
  act,
  done,
  namingNotFound,
  repeated,
  type Done,
  type OperatorOrder,
  type Subject,
} from '../operate/operator-action';
import { openAccount } from './open-account';

export type AdjustRefusal =
  | 'SUBJECT_NOT_FOUND'
  | 'AMOUNT_INVALID'
  | 'REASON_REQUIRED'
  | 'REFERENCE_CONFLICT'
  | 'INSUFFICIENT_CREDITS'
  | 'OVER_LIMIT'
  | 'BALANCE_TOO_LARGE';

export interface AdjustInput extends OperatorOrder {
  readonly subject:
    | { readonly kind: 'TENANT'; readonly tenantId: string }
    | { readonly kind: 'ATTEMPT'; readonly attemptId: string };
  /** On what the tenant can spend: below 0 takes from it. */
  readonly deltaMicros: bigint;
  readonly reference: string;
}

interface Adjusted {
  readonly repeated: boolean;
  readonly tenantId: string;
  readonly balance: Balance;
}

export type AdjustResult = ({ readonly kind: 'ADJUSTED' } & Adjusted) | Refusal<AdjustRefusal>;

/**
 * A person corrects what a tenant can spend, up or down, once a reference (docs/decisions/0012). It never takes the
 * account below zero, never changes a hold, never gives back more of a generation than it was charged, and is audited.
 */
export const adjustCredits = async (
  context: FlowContext,
  input: AdjustInput,
): Promise<AdjustResult> => {
  const acted = await act(
    context,
    'credits.adjust',
    input,
    (tx) => openSubject(tx, input.subject),
    (tx, corrected) => adjust(context, tx, input, corrected),
  );
  const told = namingNotFound(
    acted,
    refuse('SUBJECT_NOT_FOUND', 'There is no such account or attempt.', 'subjectId'),
  );
  return told.kind === 'REFUSED' ? told : { kind: 'ADJUSTED', ...told.result };
};

interface Corrected {
  readonly tenantId: string;
  readonly taskId: string | null;
  readonly attemptId: string | null;
}

const openSubject = async (
  tx: Stores,
  subject: AdjustInput['subject'],
): Promise<Subject<Corrected> | null> => {
  if (subject.kind === 'TENANT') {
    const account = await openAccount(tx, subject.tenantId);
    return account === null
      ? null
      : { ...account, row: { tenantId: account.id, taskId: null, attemptId: null } };
  }
  const attempt = await tx.attempts.read(subject.attemptId);
  if (attempt === null) return null;
  const { id, tenantId, taskId } = attempt;
  const account = await openAccount(tx, tenantId);
  return account === null
    ? null
    : { ...account, kind: 'ATTEMPT', id, row: { tenantId, taskId, attemptId: id } };
};

const adjust = async (
  context: FlowContext,
  tx: Stores,
  input: AdjustInput,
  corrected: Corrected,
): Promise<Done<Adjusted> | Refusal<AdjustRefusal>> => {
  const { deltaMicros, reference, reason, actor } = input;
  if (deltaMicros === 0n || deltaMicros > MICROS_MAX || deltaMicros < -MICROS_MAX) {
    return refuse('AMOUNT_INVALID', 'Correct by more than 0.', 'amount');
  }
  const now = context.clock.now();
  const { tenantId, attemptId } = corrected;
  const outcome = await tx.money.adjust({
    ...corrected,
    ...{ deltaMicros, reason, actor, now },
    businessKey: ledgerKeys.adjustmentByReference(attemptId ?? tenantId, reference),
    entryId: context.ids.next(now),
  });
  if (outcome !== 'CREATED' && outcome !== 'REPLAY') return refusalOf(outcome);
  const balance = await tx.money.readBalance(tenantId);
  if (balance === null) throw new Error('The account just corrected cannot be read');
  if (outcome === 'REPLAY') return repeated({ repeated: true, tenantId, balance });
  return done(
    { repeated: false, tenantId, balance },
    {
      availableMicros: balance.availableMicros.toString(),
      deltaMicros: deltaMicros.toString(),
      reference,
    },
  );
};

const refusalOf = (
  outcome: Exclude<AdjustOutcome, 'CREATED' | 'REPLAY'>,
): Refusal<AdjustRefusal> => {
  switch (outcome) {
    case 'NO_ACCOUNT':
      return refuse('SUBJECT_NOT_FOUND', 'The tenant has no account.', 'subjectId');
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
  }
};
