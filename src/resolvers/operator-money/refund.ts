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

import { refundGeneration, type RefundRefusal } from '../../flow/bill/refund-credits';
import type { ApiContext } from '../api-context';
import { Balance } from '../balance';
import { enumType } from '../enum-type';
import { moneyAnswer } from '../money-answer';
import { toUuid } from '../public-id';
import { actorOf } from '../operator/order';
import { MoneyScalar } from '../scalars';
import { userErrorType } from '../user-error';
import { IsReference } from './reference';
import { TEXT_CHARS_MAX } from './text-limits';

const CreditsRefundErrorCode = enumType<RefundRefusal>(
  'CreditsRefundErrorCode',
  'Why nothing was given back.',
  {
    GENERATION_NOT_FOUND: 'There is none, or nothing was ever reserved for it.',
    AMOUNT_INVALID: 'Not more than 0.',
    REASON_REQUIRED: 'A refund has a reason.',
    NOT_SETTLED: 'Nothing was charged yet.',
    OVER_LIMIT: 'More than was charged and not given back yet; the message says how much that is.',
    REFERENCE_CONFLICT: 'The reference stands for another amount.',
    BALANCE_TOO_LARGE: 'The account cannot hold so much.',
  },
);
const refundError = userErrorType(
  'CreditsRefundError',
  CreditsRefundErrorCode,
  'Why nothing was given back.',
);

@InputType({ description: 'Charged credits to give back.' })
export class CreditsRefundInput {
  @Field(() => ID, { description: 'Of any account.' })
  generationId!: string;

  @Field(() => MoneyScalar, {
    description: 'How many; never more than was charged, with all that was given back before.',
  })
  amount!: bigint;

  @Field(() => String, {
    nullable: true,
    description:
      'A ticket or the like: a repeat under it changes nothing. Without one each call is a refund of its own.',
  })
  @IsReference()
  reference?: string | null;

  @Field(() => String, { description: 'For the ledger and the audit log.' })
  @Length(0, TEXT_CHARS_MAX)
  reason!: string;
}

@ObjectType({ description: 'Answer of creditsRefund.' })
export class CreditsRefundPayload {
  @Field(() => Balance, { nullable: true, description: 'Of the account, afterwards.' })
  balance!: Balance | null;

  @Field(() => Boolean, {
    description: 'The reference had been refunded before; nothing was added.',
  })
  repeated!: boolean;

  @Field(() => [refundError.type], { description: 'Empty when it was given back.' })
  userErrors!: readonly ReturnType<typeof refundError.from>[];
}

@Resolver()
export class CreditsRefundResolver {
  @Authorized('operator')
  @Mutation(() => CreditsRefundPayload, {
    description: 'Operator: gives back what was charged for a generation.',
  })
  async creditsRefund(
    @Arg('input', () => CreditsRefundInput, { description: 'What is asked.' })
    input: CreditsRefundInput,
    @Ctx() context: ApiContext,
  ): Promise<CreditsRefundPayload> {
    const outcome = await refundGeneration(context.deps.context, {
      taskId: toUuid('generation', input.generationId),
      amountMicros: input.amount,
      reference: input.reference ?? null,
      reason: input.reason,
      actor: actorOf(context),
    });
    return moneyAnswer(outcome, refundError.from);
  }
}
