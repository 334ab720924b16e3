import { Arg, Authorized, Ctx, Field, ID, InputType, Mutation, Resolver } from 'type-graphql';

import {
  decideAssetReview,
  decideGenerationReview,
  type ReviewDecision,
  type ReviewRefusal,
} from '../../flow/operate/decide-review';
import type { ApiContext } from '../api-context';
import { AssetType } from '../asset-type';
import { enumType } from '../enum-type';
import { GenerationType } from '../generation-type';
import { toUuid } from '../public-id';
import { OrderInput, orderOf } from './order';
import { orderPayload, type PayloadOf } from './payload';

const ReviewVerdictEnum = enumType<ReviewDecision['verdict']>(
  'ReviewVerdict',
  'What a person decided.',
  {
    APPROVE: 'It may go on.',
    REJECT: 'It ends.',
  },
);

const CODES: Readonly<Record<ReviewRefusal, string>> = {
  NOT_IN_REVIEW: 'It does not wait for a person.',
  INSUFFICIENT_CREDITS: 'The balance of the account does not cover the price any more.',
  BUDGET_EXCEEDED: 'The budget of the month does not cover the price any more.',
  KEY_SPEND_LIMIT_EXCEEDED: 'The spend limit of the API key does not cover the price any more.',
  SETTLEMENT_PENDING: 'The charge is still being booked; decide again in a minute.',
};
const generationReview = orderPayload(
  'GenerationReviewDecide',
  'generation',
  () => GenerationType,
  CODES,
);
const assetReview = orderPayload('AssetReviewDecide', 'asset', () => AssetType, CODES);

@InputType({ description: 'A person’s decision on the prompt of a generation.' })
export class GenerationReviewDecideInput extends OrderInput {
  @Field(() => ID, { description: 'Of any account.' })
  generationId!: string;

  @Field(() => ReviewVerdictEnum, { description: 'The decision.' })
  verdict!: ReviewDecision['verdict'];
}

@InputType({ description: 'A person’s decision on an uploaded or made file.' })
export class AssetReviewDecideInput extends OrderInput {
  @Field(() => ID, { description: 'Of any account.' })
  assetId!: string;

  @Field(() => ReviewVerdictEnum, { description: 'The decision.' })
  verdict!: ReviewDecision['verdict'];
}

@Resolver()
export class ReviewResolver {
  @Authorized('operator')
  @Mutation(() => generationReview.type, {
    description:
      'Operator: decides a generation whose prompt waits for a person. An approval reserves the price.',
  })
  async generationReviewDecide(
    @Arg('input', () => GenerationReviewDecideInput, { description: 'What is asked.' })
    input: GenerationReviewDecideInput,
    @Ctx() context: ApiContext,
  ): Promise<PayloadOf<typeof generationReview>> {
    const acted = await decideGenerationReview(
      context.deps.context,
      toUuid('generation', input.generationId),
      { verdict: input.verdict, ...orderOf(context, input) },
    );
    return generationReview.from(acted, (task) => new GenerationType(task));
  }

  @Authorized('operator')
  @Mutation(() => assetReview.type, {
    description: 'Operator: decides a file that waits for a person.',
  })
  async assetReviewDecide(
    @Arg('input', () => AssetReviewDecideInput, { description: 'What is asked.' })
    input: AssetReviewDecideInput,
    @Ctx() context: ApiContext,
  ): Promise<PayloadOf<typeof assetReview>> {
    const acted = await decideAssetReview(context.deps.context, toUuid('asset', input.assetId), {
      verdict: input.verdict,
      ...orderOf(context, input),
    });
    return assetReview.from(acted, (asset) => new AssetType(asset));
  }
}
