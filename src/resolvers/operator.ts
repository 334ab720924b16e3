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

import { grantCredits, type GrantRefusal } from '../flow/bill/grant-credits';
import {
  decideAssetReview,
  decideGenerationReview,
  type ReviewDecision,
  type ReviewRefusal,
} from '../flow/create/decide-review';
import { callerOf, type ApiContext } from './api-context';
import { AssetType } from './asset-type';
import { Balance } from './balance';
import { enumType } from './enum-type';
import { GenerationType } from './generation-type';
import { toUuid } from './public-id';
import { MoneyScalar } from './scalars';
import { userErrorType } from './user-error';

const TEXT_CHARS_MAX = 1_000;

const ReviewVerdictEnum = enumType<ReviewDecision['verdict']>(
  'ReviewVerdict',
  'What a person decided.',
  {
    APPROVE: 'It may go on.',
    REJECT: 'It ends.',
  },
);

const ReviewErrorCode = enumType<ReviewRefusal>('ReviewErrorCode', 'Why nothing was decided.', {
  NOT_FOUND: 'There is none.',
  NOT_IN_REVIEW: 'It does not wait for a person.',
  INSUFFICIENT_CREDITS: 'The balance of the account does not cover the price any more.',
  BUDGET_EXCEEDED: 'The budget of the month does not cover the price any more.',
  KEY_SPEND_LIMIT_EXCEEDED: 'The spend limit of the API key does not cover the price any more.',
  SETTLEMENT_PENDING: 'The charge is still being booked; decide again in a minute.',
  REASON_REQUIRED: 'A decision has a reason.',
});
const reviewError = userErrorType('ReviewError', ReviewErrorCode, 'Why nothing was decided.');

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

@InputType({ description: 'A person’s decision on the prompt of a generation.' })
export class GenerationReviewDecideInput {
  @Field(() => ID, { description: 'Of any account.' })
  generationId!: string;

  @Field(() => ReviewVerdictEnum, { description: 'The decision.' })
  verdict!: ReviewDecision['verdict'];

  @Field(() => String, { description: 'For the audit log.' })
  @Length(0, TEXT_CHARS_MAX)
  reason!: string;
}

@ObjectType({ description: 'Answer of generationReviewDecide.' })
export class GenerationReviewDecidePayload {
  @Field(() => GenerationType, { nullable: true, description: 'As it stands now.' })
  generation!: GenerationType | null;

  @Field(() => [reviewError.type], { description: 'Empty when it was decided.' })
  userErrors!: readonly ReturnType<typeof reviewError.from>[];
}

@InputType({ description: 'A person’s decision on an uploaded or made file.' })
export class AssetReviewDecideInput {
  @Field(() => ID, { description: 'Of any account.' })
  assetId!: string;

  @Field(() => ReviewVerdictEnum, { description: 'The decision.' })
  verdict!: ReviewDecision['verdict'];

  @Field(() => String, { description: 'For the audit log.' })
  @Length(0, TEXT_CHARS_MAX)
  reason!: string;
}

@ObjectType({ description: 'Answer of assetReviewDecide.' })
export class AssetReviewDecidePayload {
  @Field(() => AssetType, { nullable: true, description: 'As it stands now.' })
  asset!: AssetType | null;

  @Field(() => [reviewError.type], { description: 'Empty when it was decided.' })
  userErrors!: readonly ReturnType<typeof reviewError.from>[];
}

@InputType({ description: 'Credits for an account.' })
export class CreditsGrantInput {
  @Field(() => ID, { description: 'As `ten_…`.' })
  tenantId!: string;

  @Field(() => MoneyScalar, { description: 'How many; more than 0, at most 1000000000.' })
  amount!: bigint;

  @Field(() => String, { description: 'A payment or ticket: each counts once for an account.' })
  @Length(1, 200)
  reference!: string;

  @Field(() => String, { description: 'For the ledger.' })
  @Length(0, TEXT_CHARS_MAX)
  reason!: string;
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

const actorOf = (context: ApiContext): string => `api_key:${callerOf(context).keyId}`;

@Resolver()
export class OperatorResolver {
  @Authorized('operator')
  @Mutation(() => GenerationReviewDecidePayload, {
    description:
      'Operator: decides a generation whose prompt waits for a person. An approval reserves the price.',
  })
  async generationReviewDecide(
    @Arg('input', () => GenerationReviewDecideInput, { description: 'What is asked.' })
    input: GenerationReviewDecideInput,
    @Ctx() context: ApiContext,
  ): Promise<GenerationReviewDecidePayload> {
    const outcome = await decideGenerationReview(
      context.deps.context,
      toUuid('generation', input.generationId),
      { verdict: input.verdict, reason: input.reason, actor: actorOf(context) },
    );
    return outcome.kind === 'REFUSED'
      ? { generation: null, userErrors: [reviewError.from(outcome)] }
      : { generation: new GenerationType(outcome.task), userErrors: [] };
  }

  @Authorized('operator')
  @Mutation(() => AssetReviewDecidePayload, {
    description: 'Operator: decides a file that waits for a person.',
  })
  async assetReviewDecide(
    @Arg('input', () => AssetReviewDecideInput, { description: 'What is asked.' })
    input: AssetReviewDecideInput,
    @Ctx() context: ApiContext,
  ): Promise<AssetReviewDecidePayload> {
    const outcome = await decideAssetReview(context.deps.context, toUuid('asset', input.assetId), {
      verdict: input.verdict,
      reason: input.reason,
      actor: actorOf(context),
    });
    return outcome.kind === 'REFUSED'
      ? { asset: null, userErrors: [reviewError.from(outcome)] }
      : { asset: new AssetType(outcome.asset), userErrors: [] };
  }

  @Authorized('operator')
  @Mutation(() => CreditsGrantPayload, { description: 'Operator: adds credits to an account.' })
  async creditsGrant(
    @Arg('input', () => CreditsGrantInput, { description: 'What is asked.' })
    input: CreditsGrantInput,
    @Ctx() context: ApiContext,
  ): Promise<CreditsGrantPayload> {
    const outcome = await grantCredits(context.deps.context, {
      tenantId: toUuid('tenant', input.tenantId),
      amountMicros: input.amount,
      reference: input.reference,
      reason: input.reason,
      actor: actorOf(context),
    });
    if (outcome.kind === 'REFUSED') {
      return { balance: null, repeated: false, userErrors: [grantError.from(outcome)] };
    }
    const balance = new Balance(toUuid('tenant', input.tenantId), outcome.balance);
    return { balance, repeated: outcome.repeated, userErrors: [] };
  }
}
