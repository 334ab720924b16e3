import {
  Arg,
  Authorized,
  Ctx,
  Field,
  InputType,
  Mutation,
  ObjectType,
  Query,
  Resolver,
} from 'type-graphql';

import { prepareRequest } from '../flow/create/prepare-request';
import { quoteGeneration } from '../flow/create/quote-generation';
import type { Quote } from '../ports/stores/catalog-store';
import { callerOf, type ApiContext } from './api-context';
import {
  generationError,
  GenerationRequestInput,
  toRequestInput,
  type GenerationError,
} from './generation-input';
import { Node } from './node';
import { toPublicId } from './public-id';
import { DateTimeScalar, MoneyScalar } from './scalars';

@ObjectType('Quote', {
  implements: Node,
  description:
    'A price that holds for a while, for exactly these parameters with any seed. Reserves nothing.',
})
export class QuoteType extends Node {
  constructor(readonly quote: Quote) {
    super(toPublicId('quote', quote.id));
  }

  @Field(() => String, { description: 'The model it is for.' })
  get model(): string {
    return this.quote.model;
  }

  @Field(() => MoneyScalar, { description: 'What a generation with this quote costs.' })
  get price(): bigint {
    return this.quote.priceMicros;
  }

  @Field(() => DateTimeScalar, { description: 'Good until then.' })
  get expiresAt(): Date {
    return this.quote.expiresAt;
  }
}

@InputType({ description: 'What is to be priced.' })
export class GenerationQuoteCreateInput extends GenerationRequestInput {}

@ObjectType({ description: 'Answer of generationQuoteCreate.' })
export class GenerationQuoteCreatePayload {
  @Field(() => QuoteType, { nullable: true, description: 'Give its id to generationCreate.' })
  quote!: QuoteType | null;

  @Field(() => [generationError.type], { description: 'Empty when it was done.' })
  userErrors!: readonly GenerationError[];
}

@ObjectType({ description: 'What a generation would cost now.' })
export class GenerationPrice {
  @Field(() => MoneyScalar, { nullable: true, description: 'Null where it would be refused.' })
  price!: bigint | null;

  @Field(() => [generationError.type], { description: 'Why it would be refused.' })
  userErrors!: readonly GenerationError[];
}

@Resolver()
export class QuoteResolver {
  @Authorized('generations:read', 'generations:write')
  @Query(() => GenerationPrice, {
    description:
      'Prices a request; keeps and reserves nothing. See generationQuoteCreate for a price that holds.',
  })
  async generationPrice(
    @Arg('input', () => GenerationRequestInput, { description: 'What the video shall be.' })
    input: GenerationRequestInput,
    @Ctx() context: ApiContext,
  ): Promise<GenerationPrice> {
    const outcome = await prepareRequest(
      context.deps.context.uow.stores,
      callerOf(context).tenantId,
      toRequestInput(input),
    );
    return outcome.kind === 'REFUSED'
      ? { price: null, userErrors: [generationError.from(outcome)] }
      : { price: outcome.priceMicros, userErrors: [] };
  }

  @Authorized('generations:write')
  @Mutation(() => GenerationQuoteCreatePayload, {
    description: 'Prices a request and keeps the price for a while. Reserves nothing.',
  })
  async generationQuoteCreate(
    @Arg('input', () => GenerationQuoteCreateInput, { description: 'What is asked.' })
    input: GenerationQuoteCreateInput,
    @Ctx() context: ApiContext,
  ): Promise<GenerationQuoteCreatePayload> {
    const outcome = await quoteGeneration(context.deps.context, {
      tenantId: callerOf(context).tenantId,
      request: toRequestInput(input),
    });
    return outcome.kind === 'REFUSED'
      ? { quote: null, userErrors: [generationError.from(outcome)] }
      : { quote: new QuoteType(outcome.quote), userErrors: [] };
  }
}
