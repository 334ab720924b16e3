import { Authorized, Ctx, Field, ObjectType, Query, Resolver } from 'type-graphql';

import { callerOf, type ApiContext } from './api-context';
import { MoneyScalar } from './scalars';

@ObjectType({ description: 'The credits of an account.' })
export class Balance {
  @Field(() => MoneyScalar, { description: 'What new generations can use.' })
  available!: bigint;

  @Field(() => MoneyScalar, { description: 'Reserved for generations under way.' })
  held!: bigint;
}

@Resolver()
export class BalanceResolver {
  @Authorized('ledger:read')
  @Query(() => Balance, { description: 'The credits of the account.' })
  async balance(@Ctx() context: ApiContext): Promise<Balance> {
    const { tenantId } = callerOf(context);
    const balance = await context.deps.context.uow.stores.money.readBalance(tenantId);
    return { available: balance?.availableMicros ?? 0n, held: balance?.heldMicros ?? 0n };
  }
}
