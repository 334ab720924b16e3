import { Length, NotContains } from 'class-validator';
import { Arg, Authorized, Ctx, Field, ID, InputType, Mutation, Resolver } from 'type-graphql';

import { switchProvider } from '../../flow/operate/pause-provider';
import { switchTenant } from '../../flow/operate/pause-tenant';
import type { Provider, Tenant } from '../../ports/stores/catalog-store';
import type { ApiContext } from '../api-context';
import { toPublicId, toUuid } from '../public-id';
import { TenantType } from '../viewer';
import { OrderInput, orderOf } from './order';
import { orderPayload, type PayloadOf } from './payload';
import { ProviderState } from './provider-type';

const ALREADY_PAUSED = { ALREADY_PAUSED: 'It is paused.' };
const NOT_PAUSED = { NOT_PAUSED: 'It is not paused.' };
type Codes = Readonly<Record<'ALREADY_PAUSED' | 'NOT_PAUSED', string>>;

// One use case serves both directions; each direction can only meet its own refusal.
const provider = (name: string, codes: Partial<Codes>) =>
  orderPayload(name, 'provider', () => ProviderState, codes as Codes);
const tenant = (name: string, codes: Partial<Codes>) =>
  orderPayload(name, 'tenant', () => TenantType, codes as Codes);

const providerPause = provider('ProviderPause', ALREADY_PAUSED);
const providerResume = provider('ProviderResume', NOT_PAUSED);
const tenantPause = tenant('TenantPause', ALREADY_PAUSED);
const tenantResume = tenant('TenantResume', NOT_PAUSED);

@InputType()
abstract class ProviderInput extends OrderInput {
  @Field(() => String, { description: 'As `providers` answers it.' })
  @Length(1, 100)
  @NotContains('\0')
  providerId!: string;
}

@InputType()
abstract class TenantInput extends OrderInput {
  @Field(() => ID, { description: 'As `ten_…`.' })
  tenantId!: string;
}

@InputType({ description: 'Which provider gets no more submits.' })
export class ProviderPauseInput extends ProviderInput {}

@InputType({ description: 'Which provider gets submits again.' })
export class ProviderResumeInput extends ProviderInput {}

@InputType({ description: 'Which account may create nothing more.' })
export class TenantPauseInput extends TenantInput {}

@InputType({ description: 'Which account may create again.' })
export class TenantResumeInput extends TenantInput {}

const turnProvider = (context: ApiContext, input: ProviderInput, to: Provider['status']) => {
  const { deps } = context;
  const order = { to, ...orderOf(context, input) };
  return switchProvider(deps.context, deps.ringScheduler, input.providerId, order);
};

const turnTenant = (context: ApiContext, input: TenantInput, to: Tenant['status']) => {
  const { deps } = context;
  const order = { to, ...orderOf(context, input) };
  return switchTenant(deps.context, deps.ringScheduler, toUuid('tenant', input.tenantId), order);
};

const toTenant = ({ id, name, status }: Tenant): TenantType => ({
  id: toPublicId('tenant', id),
  name,
  status,
});

@Resolver()
export class SwitchResolver {
  @Authorized('operator')
  @Mutation(() => providerPause.type, {
    description:
      'Operator: closes a provider for submits. What it has goes on; what waits for it stays QUEUED and says why.',
  })
  async providerPause(
    @Arg('input', () => ProviderPauseInput, { description: 'What is asked.' })
    input: ProviderPauseInput,
    @Ctx() context: ApiContext,
  ): Promise<PayloadOf<typeof providerPause>> {
    return providerPause.from(await turnProvider(context, input, 'PAUSED'), ProviderState.from);
  }

  @Authorized('operator')
  @Mutation(() => providerResume.type, {
    description: 'Operator: opens a provider for submits again.',
  })
  async providerResume(
    @Arg('input', () => ProviderResumeInput, { description: 'What is asked.' })
    input: ProviderResumeInput,
    @Ctx() context: ApiContext,
  ): Promise<PayloadOf<typeof providerResume>> {
    return providerResume.from(await turnProvider(context, input, 'ACTIVE'), ProviderState.from);
  }

  @Authorized('operator')
  @Mutation(() => tenantPause.type, {
    description:
      'Operator: closes an account for uploads and creates. What runs finishes; what waits stays QUEUED.',
  })
  async tenantPause(
    @Arg('input', () => TenantPauseInput, { description: 'What is asked.' })
    input: TenantPauseInput,
    @Ctx() context: ApiContext,
  ): Promise<PayloadOf<typeof tenantPause>> {
    return tenantPause.from(await turnTenant(context, input, 'PAUSED'), toTenant);
  }

  @Authorized('operator')
  @Mutation(() => tenantResume.type, { description: 'Operator: opens an account again.' })
  async tenantResume(
    @Arg('input', () => TenantResumeInput, { description: 'What is asked.' })
    input: TenantResumeInput,
    @Ctx() context: ApiContext,
  ): Promise<PayloadOf<typeof tenantResume>> {
    return tenantResume.from(await turnTenant(context, input, 'ACTIVE'), toTenant);
  }
}
