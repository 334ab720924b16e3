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

import { grantCredits, type GrantRefusal } from '../../flow/bill/grant-credits';
import type { ApiContext } from '../api-context';
import { Balance } from '../balance';
import { enumType } from '../enum-type';
import { moneyAnswer } from '../money-answer';
import { IsReference } from '../operator-money/reference';
import { toUuid } from '../public-id';
import { MoneyScalar } from '../scalars';
import { userErrorType } from '../user-error';
import { actorOf, OrderInput } from './order';

const CreditsGrantErrorCode = enumType<GrantRefusal>(
  'CreditsGrantErrorCode',
  'Why nothing was granted.',
  {
    TENANT_NOT_FOUND: 'There is no such account.',
    AMOUNT_INVALID: 'Not more than 0, or more than 1000000000.',
    BALANCE_TOO_LARGE: 'The account cannot hold so much.',
    REASON_REQUIRED: 'A grant has a reason.',
    REFERENCE_CONFLICT: 'The reference stands for another amount.',
  },
);
const grantError = userErrorType(
  'CreditsGrantError',
  CreditsGrantErrorCode,
  'Why nothing was granted.',
);

@InputType({ description: 'Credits for an account.' })
export class CreditsGrantInput extends OrderInput {
  @Field(() => ID, { description: 'As `ten_…`.' })
  tenantId!: string;

  @Field(() => MoneyScalar, { description: 'How many; more than 0, at most 1000000000.' })
  amount!: bigint;

  @Field(() => String, { description: 'A payment or ticket: each counts once for an account.' })
  @IsReference()
  reference!: string;
}

@ObjectType({ description: 'Answer of creditsGrant.' })
export class CreditsGrantPayload {
  @Field(() => Balance, { nullable: true, description: 'Of the account, afterwards.' })
  balance!: Balance | null;

  @Field(() => Boolean, {
    description: 'The reference had been granted before; nothing was added.',
  })
  repeated!: boolean;

  @Field(() => [grantError.type], { description: 'Empty when it was granted.' })
  userErrors!: readonly ReturnType<typeof grantError.from>[];
}

@Resolver()
export class CreditsGrantResolver {
  @Authorized('operator')
  @Mutation(() => CreditsGrantPayload, { description: 'Operator: adds credits to an account.' })
  async creditsGrant(
    @Arg('input', () => CreditsGrantInput, { description: 'What is asked.' })
    input: CreditsGrantInput,
    @Ctx() context: ApiContext,
  ): Promise<CreditsGrantPayload> {
    const tenantId = toUuid('tenant', input.tenantId);
    const outcome = await grantCredits(context.deps.context, {
      tenantId,
      amountMicros: input.amount,
      reference: input.reference,
      reason: input.reason,
      actor: actorOf(context),
    });
    return moneyAnswer(
      outcome.kind === 'REFUSED' ? outcome : { ...outcome, tenantId },
      grantError.from,
    );
  }
}
