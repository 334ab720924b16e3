import { Authorized, Ctx, Field, Int, ObjectType, Query, Resolver } from 'type-graphql';

import { accountLimitAt, circuitStateOf, type CircuitState } from '../domain/scheduling/routing';
import type { AccountRow } from '../ports/stores/catalog-store';
import type { ApiContext } from './api-context';
import { enumType } from './enum-type';
import { DateTimeScalar } from './scalars';

const CircuitStateEnum = enumType<CircuitState>(
  'CircuitState',
  'Whether new jobs are sent to an account. Queries and cancels always are.',
  {
    CLOSED: 'They are.',
    OPEN: 'None is, until `openUntil`: it failed too often in a row.',
    HALF_OPEN: 'One is, to see whether it works again; the others wait for what it comes to.',
  },
);

@ObjectType({ description: 'Operators: an account of the platform at a provider.' })
export class ProviderAccountType {
  constructor(
    readonly account: AccountRow,
    readonly inUse: number,
    readonly now: Date,
  ) {}

  @Field(() => String, { description: 'As it is called in the configuration.' })
  get id(): string {
    return this.account.id;
  }

  @Field(() => String, { description: 'Whose account it is.' })
  get provider(): string {
    return this.account.providerId;
  }

  @Field(() => String, { description: 'ACTIVE or PAUSED.' })
  get status(): string {
    return this.account.status;
  }

  @Field(() => Int, { description: 'Jobs in flight.' })
  get used(): number {
    return this.inUse;
  }

  @Field(() => Int, { description: 'Jobs that it takes.' })
  get max(): number {
    return this.account.concurrentMax;
  }

  @Field(() => Int, {
    description:
      'Jobs that it takes at present: fewer for a while after its provider throttled it.',
  })
  get maxNow(): number {
    return accountLimitAt(this.account, this.now);
  }

  @Field(() => DateTimeScalar, { nullable: true, description: 'Until when it takes fewer.' })
  get throttledUntil(): Date | null {
    const { throttledUntil } = this.account;
    return throttledUntil !== null && throttledUntil > this.now ? throttledUntil : null;
  }

  @Field(() => CircuitStateEnum, { description: 'Whether new jobs are sent to it.' })
  get circuit(): CircuitState {
    return circuitStateOf(this.account, this.now);
  }

  @Field(() => Int, { description: 'Submits that failed in a row.' })
  get circuitFailures(): number {
    return this.account.circuitFailures;
  }

  @Field(() => DateTimeScalar, { nullable: true, description: 'Until when nothing new is sent.' })
  get openUntil(): Date | null {
    return this.account.circuitOpenUntil;
  }

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'Until when the others wait for the one that is trying.',
  })
  get probeUntil(): Date | null {
    return this.account.circuitProbeUntil;
  }
}

@Resolver()
export class ProviderAccountResolver {
  @Authorized('operator')
  @Query(() => [ProviderAccountType], {
    description: 'Operator: the accounts at providers, their limits and circuits.',
  })
  async providerAccounts(@Ctx() { deps }: ApiContext): Promise<ProviderAccountType[]> {
    const accounts = await deps.context.uow.stores.catalog.listAccounts();
    const usage = await deps.slots.usage(accounts.map(({ id }) => `account:${id}`));
    const now = deps.context.clock.now();
    return accounts.map(
      (account) => new ProviderAccountType(account, usage[`account:${account.id}`] ?? 0, now),
    );
  }
}
