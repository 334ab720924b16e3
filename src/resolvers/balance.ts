import {
  Authorized,
  Ctx,
  Field,
  FieldResolver,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';

import type { Balance as BalanceRow } from '../ports/stores/money-store';
import { callerOf, type ApiContext } from './api-context';
import { MoneyScalar } from './scalars';
import { SpendLimitType } from './spend-limit-type';

@ObjectType({ description: 'The credits of an account.' })
export class Balance {
  constructor(
    readonly tenantId: string,
    private readonly row: BalanceRow | null,
  ) {}

  @Field(() => MoneyScalar, { description: 'What new generations can use.' })
  get available(): bigint {
    return this.row?.availableMicros ?? 0n;
  }

  @Field(() => MoneyScalar, { description: 'Reserved for generations under way.' })
  get held(): bigint {
    return this.row?.heldMicros ?? 0n;
  }
}

@Resolver(() => Balance)
export class BalanceResolver {
  @Authorized('ledger:read')
  @Query(() => Balance, { description: 'The credits of the account.' })
  async balance(@Ctx() context: ApiContext): Promise<Balance> {
    const { tenantId } = callerOf(context);
    return new Balance(tenantId, await context.deps.context.uow.stores.money.readBalance(tenantId));
  }

  @FieldResolver(() => [SpendLimitType], {
    description:
      'The budget of the account and the limits of its API keys; empty where nothing is limited.',
  })
  async limits(
    @Root() { tenantId }: Balance,
    @Ctx() context: ApiContext,
  ): Promise<SpendLimitType[]> {
    const { uow, clock } = context.deps.context;
    const limits = await uow.stores.money.listSpendLimits(tenantId, clock.now());
    return limits.map((row) => new SpendLimitType(row));
  }
}
