import { Field, Int, ObjectType } from 'type-graphql';

import type { BudgetUse } from '../domain/scheduling/budget-use';
import type { RetryStep, SpentBy } from '../domain/scheduling/retry-budget';
import { enumType } from './enum-type';
import { DateTimeScalar } from './scalars';

const RetryStepEnum = enumType<RetryStep>('RetryStep', 'A step that is tried again by itself.', {
  submit: 'Sending it to a provider.',
  query: 'Asking the provider how it stands; errors in a row.',
  cancel: 'Asking the provider to stop.',
  reconcile: 'Asking the provider whether it has the job.',
  fetch: 'Fetching the output.',
  media: 'Making it playable.',
  notify: 'Telling others.',
});

const SpentByEnum = enumType<SpentBy>('SpentBy', 'What used a budget up.', {
  TRIES: 'Its tries.',
  TIME: 'Its time.',
  DEADLINE: 'The deadline of the generation.',
});

@ObjectType({ description: 'What a generation has used of the budget of one step.' })
export class RetryBudgetUse implements BudgetUse {
  @Field(() => RetryStepEnum, { description: 'Which step.' })
  step!: RetryStep;

  @Field(() => Int, { description: 'Tries that were made, or failed.' })
  triesUsed!: number;

  @Field(() => Int, { description: 'Tries that there are.' })
  triesMax!: number;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'When the next one is due; null when none is planned.',
  })
  waitUntil!: Date | null;

  @Field(() => SpentByEnum, { nullable: true, description: 'Null while there is some left.' })
  spentBy!: SpentBy | null;
}
