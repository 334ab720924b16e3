import { Field, Int, ObjectType } from 'type-graphql';

import type { ProviderView } from '../../ports/operator-reads';
import type { Provider } from '../../ports/stores/catalog-store';
import { enumType } from '../enum-type';
import { DateTimeScalar } from '../scalars';

const ProviderStatusEnum = enumType<Provider['status']>(
  'ProviderStatus',
  'Whether a provider gets submits.',
  { ACTIVE: 'It does.', PAUSED: 'It does not. What it has goes on.' },
);

@ObjectType({ description: 'A provider that generations are sent to.' })
export class ProviderState {
  @Field(() => String, { description: 'As attempts name it.' })
  id!: string;

  @Field(() => String, { description: 'For people.' })
  displayName!: string;

  @Field(() => ProviderStatusEnum, { description: 'Whether it gets submits.' })
  status!: Provider['status'];

  static from({ id, displayName, status }: ProviderState): ProviderState {
    return { id, displayName, status };
  }
}

@ObjectType({ description: 'Our account at a provider.' })
export class ProviderAccountState {
  @Field(() => String, { description: 'Its name.' })
  id!: string;

  @Field(() => ProviderStatusEnum, { description: 'Whether it gets submits.' })
  status!: Provider['status'];

  @Field(() => Int, { description: 'Jobs that it may have at once.' })
  concurrentMax!: number;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'After too many failures it gets no submits until then.',
  })
  circuitOpenUntil!: Date | null;
}

@ObjectType({ description: 'A provider with our accounts there.' })
export class ProviderWithAccounts extends ProviderState {
  @Field(() => [ProviderAccountState], { description: 'Our accounts.' })
  accounts!: ProviderView['accounts'];
}
