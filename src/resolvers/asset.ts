import { Arg, Args, ArgsType, Authorized, Ctx, Field, ID, Query, Resolver } from 'type-graphql';

import type { AssetKind, AssetStatus } from '../domain/output/asset';
import { callerOf, type ApiContext } from './api-context';
import { AssetConnection, AssetKindEnum, AssetStatusEnum, AssetType } from './asset-type';
import { PageArgs, toConnection, toPageRequest, type Connection } from './connection';
import { toUuid } from './public-id';
import { DateTimeScalar } from './scalars';

@ArgsType()
export class AssetListArgs extends PageArgs {
  @Field(() => [AssetStatusEnum], { nullable: true, description: 'Only these.' })
  status?: AssetStatus[] | null;

  @Field(() => [AssetKindEnum], { nullable: true, description: 'Only these.' })
  kind?: AssetKind[] | null;

  @Field(() => ID, { nullable: true, description: 'Only of this project.' })
  projectId?: string | null;

  @Field(() => DateTimeScalar, { nullable: true, description: 'Only from this time on.' })
  createdAfter?: Date | null;

  @Field(() => DateTimeScalar, { nullable: true, description: 'Only before this time.' })
  createdBefore?: Date | null;
}

@Resolver()
export class AssetResolver {
  @Authorized('generations:read', 'assets:write')
  @Query(() => AssetType, { nullable: true, description: 'An asset; null when there is none.' })
  async asset(
    @Arg('id', () => ID, { description: 'As `ast_…`.' }) id: string,
    @Ctx() context: ApiContext,
  ): Promise<AssetType | null> {
    const { tenantId } = callerOf(context);
    const asset = await context.loaders.asset.load({ tenantId, id: toUuid('asset', id) });
    return asset === null ? null : new AssetType(asset);
  }

  @Authorized('generations:read', 'assets:write')
  @Query(() => AssetConnection, { description: 'Assets of the account, newest first.' })
  async assets(
    @Args(() => AssetListArgs) args: AssetListArgs,
    @Ctx() context: ApiContext,
  ): Promise<Connection<AssetType>> {
    const request = toPageRequest('asset', args);
    const page = await context.deps.reads.pageAssets(
      callerOf(context).tenantId,
      {
        statuses: args.status ?? null,
        kinds: args.kind ?? null,
        projectId: args.projectId == null ? null : toUuid('project', args.projectId),
        createdAfter: args.createdAfter ?? null,
        createdBefore: args.createdBefore ?? null,
      },
      request,
    );
    return toConnection('asset', request, page, (asset) => new AssetType(asset));
  }
}
