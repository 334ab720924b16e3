import { Arg, Args, ArgsType, Authorized, Ctx, Field, ID, Query, Resolver } from 'type-graphql';

import type { TaskStatus } from '../domain/generation/statuses';
import { callerOf, type ApiContext } from './api-context';
import { PageArgs, toConnection, toPageRequest, type Connection } from './connection';
import { GenerationConnection, GenerationType } from './generation-type';
import { GenerationStatusEnum } from './generation-words';
import { toUuid } from './public-id';
import { DateTimeScalar } from './scalars';

@ArgsType()
export class GenerationListArgs extends PageArgs {
  @Field(() => [GenerationStatusEnum], { nullable: true, description: 'Only these.' })
  status?: TaskStatus[] | null;

  @Field(() => String, { nullable: true, description: 'Only of this model.' })
  model?: string | null;

  @Field(() => ID, { nullable: true, description: 'Only of this project.' })
  projectId?: string | null;

  @Field(() => DateTimeScalar, { nullable: true, description: 'Only from this time on.' })
  createdAfter?: Date | null;

  @Field(() => DateTimeScalar, { nullable: true, description: 'Only before this time.' })
  createdBefore?: Date | null;
}

@Resolver()
export class GenerationResolver {
  @Authorized('generations:read')
  @Query(() => GenerationType, {
    nullable: true,
    description: 'A generation; null when there is none.',
  })
  async generation(
    @Arg('id', () => ID, { description: 'As `gen_…`.' }) id: string,
    @Ctx() context: ApiContext,
  ): Promise<GenerationType | null> {
    const { tenantId } = callerOf(context);
    const task = await context.loaders.task.load({ tenantId, id: toUuid('generation', id) });
    return task === null ? null : new GenerationType(task);
  }

  @Authorized('generations:read')
  @Query(() => GenerationType, {
    nullable: true,
    description: 'Who made this call: the generation that an idempotency key belongs to.',
  })
  async generationByIdempotencyKey(
    @Arg('key', () => String, { description: 'As it was given to generationCreate.' }) key: string,
    @Ctx() context: ApiContext,
  ): Promise<GenerationType | null> {
    const task = await context.deps.reads.findTaskByKey(callerOf(context).tenantId, key);
    return task === null ? null : new GenerationType(task);
  }

  @Authorized('generations:read')
  @Query(() => GenerationConnection, { description: 'Generations of the account, newest first.' })
  async generations(
    @Args(() => GenerationListArgs) args: GenerationListArgs,
    @Ctx() context: ApiContext,
  ): Promise<Connection<GenerationType>> {
    const request = toPageRequest('generation', args);
    const page = await context.deps.reads.pageTasks(
      callerOf(context).tenantId,
      {
        statuses: args.status ?? null,
        model: args.model ?? null,
        projectId: args.projectId == null ? null : toUuid('project', args.projectId),
        createdAfter: args.createdAfter ?? null,
        createdBefore: args.createdBefore ?? null,
      },
      request,
    );
    return toConnection('generation', request, page, (task) => new GenerationType(task));
  }
}
