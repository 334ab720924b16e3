import { Authorized, Ctx, Field, ID, ObjectType, Query, Resolver } from 'type-graphql';

import type { Tenant } from '../ports/stores/catalog-store';
import { callerOf, type ApiContext } from './api-context';
import { ApiKeyType } from './api-key';
import { enumType } from './enum-type';
import { toPublicId } from './public-id';
import { SpendLimitType } from './spend-limit-type';

const TenantStatusEnum = enumType<Tenant['status']>('TenantStatus', 'Whether an account works.', {
  ACTIVE: 'Takes uploads and generations.',
  PAUSED: 'Takes nothing new.',
});

@ObjectType('Tenant', { description: 'An account.' })
export class TenantType {
  @Field(() => ID, { description: 'As `ten_…`.' })
  id!: string;

  @Field(() => String, { description: 'For people.' })
  name!: string;

  @Field(() => TenantStatusEnum, { description: 'Whether it works.' })
  status!: Tenant['status'];
}

@ObjectType({ description: 'Who makes this request.' })
export class Viewer {
  @Field(() => TenantType, { description: 'The account.' })
  tenant!: TenantType;

  @Field(() => ApiKeyType, { description: 'The key.' })
  apiKey!: ApiKeyType;

  @Field(() => [String], { description: 'What the key may do.' })
  scopes!: readonly string[];

  @Field(() => [SpendLimitType], {
    description: 'What bounds this key: the budget of the account and the limit of the key.',
  })
  spendLimits!: readonly SpendLimitType[];
}

@Resolver()
export class ViewerResolver {
  @Authorized()
  @Query(() => Viewer, { description: 'Who makes this request.' })
  async viewer(@Ctx() context: ApiContext): Promise<Viewer> {
    const { tenantId, keyId, scopes } = callerOf(context);
    const { apiKeys, context: flow } = context.deps;
    const [tenant, [key], limits] = await Promise.all([
      flow.uow.stores.catalog.readTenant(tenantId),
      apiKeys.read(tenantId, [keyId]),
      flow.uow.stores.money.listSpendLimits(tenantId, flow.clock.now()),
    ]);
    if (tenant === null || key === undefined) {
      throw new Error('The account or the key of an authenticated request cannot be read');
    }
    return {
      tenant: { id: toPublicId('tenant', tenant.id), name: tenant.name, status: tenant.status },
      apiKey: new ApiKeyType(key),
      scopes,
      spendLimits: limits
        .filter(({ apiKeyId }) => apiKeyId === null || apiKeyId === keyId)
        .map((row) => new SpendLimitType(row)),
    };
  }
}
