import { Field, ObjectType } from 'type-graphql';

import { DecimalScalar } from './scalars';

@ObjectType({ description: 'What a provider charges the platform, in its own currency.' })
export class ProviderCost {
  @Field(() => DecimalScalar, { description: 'The exact amount.' })
  amount!: string;

  @Field(() => String, { description: 'ISO 4217, as USD.' })
  currency!: string;
}
