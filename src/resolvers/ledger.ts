import { Args, ArgsType, Authorized, Ctx, Field, ID, Query, Resolver } from 'type-graphql';

import type { LedgerKind } from '../domain/billing/outcomes';
import { callerOf, type ApiContext } from './api-context';
import { PageArgs, toConnection, toPageRequest, type Connection } from './connection';
import { LedgerEntryConnection, LedgerEntryType, LedgerKindEnum } from './ledger-type';
import { toUuid } from './public-id';
import { DateTimeScalar } from './scalars';

@ArgsType()
export class LedgerListArgs extends PageArgs {
  @Field(() => [LedgerKindEnum], { nullable: true, description: 'Only these.' })
  kind?: LedgerKind[] | null;

  @Field(() => ID, { nullable: true, description: 'Only of this generation.' })
  generationId?: string | null;

  @Field(() => DateTimeScalar, { nullable: true, description: 'Only from this time on.' })
  createdAfter?: Date | null;

  @Field(() => DateTimeScalar, { nullable: true, description: 'Only before this time.' })
  createdBefore?: Date | null;
}

@Resolver()
export class LedgerResolver {
  @Authorized('ledger:read')
  @Query(() => LedgerEntryConnection, {
    description: 'Credit movements of the account, newest first.',
  })
  async ledgerEntries(
    @Args(() => LedgerListArgs) args: LedgerListArgs,
    @Ctx() context: ApiContext,
  ): Promise<Connection<LedgerEntryType>> {
    const request = toPageRequest('ledgerEntry', args);
    const page = await context.deps.reads.pageLedger(
      callerOf(context).tenantId,
      {
        kinds: args.kind ?? null,
        taskId: args.generationId == null ? null : toUuid('generation', args.generationId),
        createdAfter: args.createdAfter ?? null,
        createdBefore: args.createdBefore ?? null,
      },
      request,
    );
    return toConnection('ledgerEntry', request, page, (entry) => new LedgerEntryType(entry));
  }
}
