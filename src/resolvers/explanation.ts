import { Arg, Authorized, Ctx, ID, Query, Resolver } from 'type-graphql';

import { explainGeneration } from '../flow/explain/explain-generation';
import { callerOf, type ApiContext } from './api-context';
import { GenerationExplanation } from './explanation-type';
import { toUuid } from './public-id';

@Resolver()
export class ExplanationResolver {
  @Authorized('generations:read', 'operator')
  @Query(() => GenerationExplanation, {
    nullable: true,
    description:
      'Everything that happened to a generation, in one order, and what happens next; null when there is none. Operators may ask of any account.',
  })
  async generationExplanation(
    @Arg('id', () => ID, { description: 'As `gen_…`.' }) id: string,
    @Ctx() context: ApiContext,
  ): Promise<GenerationExplanation | null> {
    const { tenantId, scopes } = callerOf(context);
    const { deps } = context;
    const explanation = await explainGeneration(
      deps.context,
      deps,
      { tenantId, isOperator: scopes.includes('operator') },
      toUuid('generation', id),
    );
    return explanation === null ? null : new GenerationExplanation(explanation);
  }
}
