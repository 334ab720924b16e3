import { Length } from 'class-validator';
import {
  Arg,
  Authorized,
  Ctx,
  Field,
  ID,
  InputType,
  Mutation,
  ObjectType,
  Resolver,
} from 'type-graphql';

import {
  adjustCredits,
  type AdjustInput,
  type AdjustRefusal,
} from '../../flow/bill/adjust-credits';
import type { ApiContext } from '../api-context';
import { Balance } from '../balance';
import { enumType } from '../enum-type';
import { moneyAnswer } from '../money-answer';
import { parsePublicId } from '../public-id';
import { actorOf } from '../operator/order';
import { MoneyScalar } from '../scalars';
import { userErrorType } from '../user-error';
import { IsReference } from './reference';
import { TEXT_CHARS_MAX } from './text-limits';

const AdjustmentDirectionEnum = enumType<'CREDIT' | 'DEBIT'>(
  'AdjustmentDirection',
  'Which way a correction goes.',
  { CREDIT: 'The account gets credits.', DEBIT: 'The account loses credits, never below 0.' },
);

const CreditsAdjustErrorCode = enumType<AdjustRefusal>(
  'CreditsAdjustErrorCode',
  'Why nothing was corrected.',
  {
    SUBJECT_NOT_FOUND: 'There is no such account or attempt.',
    AMOUNT_INVALID: 'Not more than 0.',
    REASON_REQUIRED: 'A correction has a reason.',
    REFERENCE_CONFLICT: 'The reference stands for another amount.',
    INSUFFICIENT_CREDITS: 'The account has less than that; what is reserved is not touched.',
    OVER_LIMIT:
      'More than was charged for the generation of the attempt and not given back yet; correct the account instead.',
    BALANCE_TOO_LARGE: 'The account cannot hold so much.',
  },
);
const adjustError = userErrorType(
  'CreditsAdjustError',
  CreditsAdjustErrorCode,
  'Why nothing was corrected.',
);

@InputType({ description: 'A correction of what an account can spend.' })
export class CreditsAdjustInput {
  @Field(() => ID, {
    description: 'The account as `ten_…`, or the attempt as `att_…` whose generation it is about.',
  })
  subjectId!: string;

  @Field(() => AdjustmentDirectionEnum, { description: 'Which way.' })
  direction!: 'CREDIT' | 'DEBIT';

  @Field(() => MoneyScalar, { description: 'By how many credits; more than 0.' })
  amount!: bigint;

  @Field(() => String, { description: 'A letter or ticket: each counts once for its subject.' })
  @IsReference()
  reference!: string;

  @Field(() => String, { description: 'For the ledger and the audit log.' })
  @Length(0, TEXT_CHARS_MAX)
  reason!: string;
}

@ObjectType({ description: 'Answer of creditsAdjust.' })
export class CreditsAdjustPayload {
  @Field(() => Balance, { nullable: true, description: 'Of the account, afterwards.' })
  balance!: Balance | null;

  @Field(() => Boolean, {
    description: 'The reference had been booked before; nothing was changed.',
  })
  repeated!: boolean;

  @Field(() => [adjustError.type], { description: 'Empty when it was corrected.' })
  userErrors!: readonly ReturnType<typeof adjustError.from>[];
}

@Resolver()
export class CreditsAdjustResolver {
  @Authorized('operator')
  @Mutation(() => CreditsAdjustPayload, {
    description: 'Operator: corrects what an account can spend; reservations stay as they are.',
  })
  async creditsAdjust(
    @Arg('input', () => CreditsAdjustInput, { description: 'What is asked.' })
    input: CreditsAdjustInput,
    @Ctx() context: ApiContext,
  ): Promise<CreditsAdjustPayload> {
    const outcome = await adjustCredits(context.deps.context, {
      subject: subjectOf(input.subjectId),
      deltaMicros: input.direction === 'CREDIT' ? input.amount : -input.amount,
      reference: input.reference,
      reason: input.reason,
      actor: actorOf(context),
    });
    return moneyAnswer(outcome, adjustError.from);
  }
}

const NOWHERE = '00000000-0000-0000-0000-000000000000';

/** An id of another kind reads as an account that does not exist. */
const subjectOf = (publicId: string): AdjustInput['subject'] => {
  const parsed = parsePublicId(publicId);
  if (parsed?.kind === 'attempt') return { kind: 'ATTEMPT', attemptId: parsed.uuid };
  return { kind: 'TENANT', tenantId: parsed?.kind === 'tenant' ? parsed.uuid : NOWHERE };
};
