import { Field, ID, ObjectType } from 'type-graphql';

import type { SpendLimit, SpendPeriod } from '../ports/stores/money-store';
import { enumType } from './enum-type';
import { toPublicId } from './public-id';
import { MoneyScalar } from './scalars';

export const SpendPeriodEnum = enumType<SpendPeriod>(
  'SpendPeriod',
  'The time for which a spend limit counts.',
  {
    MONTH: 'A calendar month in UTC.',
    TOTAL: 'The whole life of the API key.',
  },
);

@ObjectType('SpendLimit', {
  description:
    'How much an account may spend in a month, or one of its API keys in a month or ever. What counts is what ' +
    'generations begun in the period hold or were charged, less refunds.',
})
export class SpendLimitType {
  constructor(private readonly row: SpendLimit) {}

  @Field(() => ID, { nullable: true, description: 'The key; null: the account as a whole.' })
  get apiKeyId(): string | null {
    return this.row.apiKeyId === null ? null : toPublicId('apiKey', this.row.apiKeyId);
  }

  @Field(() => SpendPeriodEnum, { description: 'The time for which it counts.' })
  get period(): SpendPeriod {
    return this.row.period;
  }

  @Field(() => MoneyScalar, { description: 'The limit.' })
  get limit(): bigint {
    return this.row.limitMicros;
  }

  @Field(() => MoneyScalar, { description: 'What is spent of it.' })
  get spent(): bigint {
    return this.row.spentMicros;
  }

  @Field(() => MoneyScalar, {
    description: 'What is left; a generation that costs more is refused.',
  })
  get left(): bigint {
    const left = this.row.limitMicros - this.row.spentMicros;
    return left < 0n ? 0n : left;
  }
}
