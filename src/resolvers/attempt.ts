import { Field, ID, Int, ObjectType } from 'type-graphql';

import type { Attempt } from '../domain/attempt/attempt';
import type { AttemptStatus } from '../domain/attempt/statuses';
import { enumType } from './enum-type';
import { Node } from './node';
import { ProviderCost } from './provider-cost';
import { toPublicId } from './public-id';
import { DateTimeScalar } from './scalars';

export const AttemptStatusEnum = enumType<AttemptStatus>(
  'AttemptStatus',
  'Where one submission to one provider stands.',
  {
    NEW: 'Written down, not sent.',
    SENDING: 'Being sent.',
    UNKNOWN:
      'The answer was lost: the provider may or may not have taken it. Being found out; never sent twice.',
    ACKED: 'The provider took it.',
    RUNNING: 'The provider works on it.',
    SUCCEEDED: 'The provider made an output.',
    FAILED: 'The provider gave up.',
    CANCELED: 'Stopped.',
    FAILED_BEFORE_ACCEPT: 'The provider refused it, or never had it.',
    ABANDONED: 'Nobody could find out; still watched for.',
  },
);

@ObjectType('Attempt', {
  implements: Node,
  description:
    'One submission of a generation to one provider. Attempts are kept, never overwritten.',
})
export class AttemptType extends Node {
  constructor(readonly attempt: Attempt) {
    super(toPublicId('attempt', attempt.id));
  }

  @Field(() => ID, { description: 'The generation it belongs to.' })
  get generationId(): string {
    return toPublicId('generation', this.attempt.taskId);
  }

  @Field(() => Int, { description: 'From 1.' })
  get number(): number {
    return this.attempt.attemptNo;
  }

  @Field(() => String, { description: 'Who was asked.' })
  get provider(): string {
    return this.attempt.providerId;
  }

  @Field(() => String, { description: 'The model, as the provider spells it.' })
  get model(): string {
    return this.attempt.model;
  }

  @Field(() => String, {
    nullable: true,
    description: 'The provider’s own id of the job, once it is known.',
  })
  get jobId(): string | null {
    return this.attempt.jobId;
  }

  @Field(() => AttemptStatusEnum, { description: 'Where it stands.' })
  get status(): AttemptStatus {
    return this.attempt.status;
  }

  @Field(() => String, { nullable: true, description: 'The provider’s own latest word.' })
  get providerStatus(): string | null {
    return this.attempt.providerStatus;
  }

  @Field(() => Int, { description: 'Percent, for display; 100 is not success.' })
  get progress(): number {
    return this.attempt.progress;
  }

  @Field(() => String, {
    nullable: true,
    description: 'The class of what went wrong, as THROTTLED or PROVIDER_INTERNAL.',
  })
  get errorClass(): string | null {
    return this.attempt.errorClass;
  }

  @Field(() => String, { nullable: true, description: 'The provider’s own code for it.' })
  get errorCode(): string | null {
    return this.attempt.errorCode;
  }

  @Field(() => ProviderCost, {
    nullable: true,
    description: 'What the provider charges for it; null until that is known.',
  })
  get cost(): ProviderCost | null {
    const { costAmount: amount, costCurrency: currency } = this.attempt;
    return amount === null || currency === null ? null : { amount, currency };
  }

  @Field(() => DateTimeScalar, { description: 'When it was written down.' })
  get createdAt(): Date {
    return this.attempt.createdAt;
  }

  @Field(() => DateTimeScalar, { nullable: true, description: 'When sending began.' })
  get sentAt(): Date | null {
    return this.attempt.sentAt;
  }

  @Field(() => DateTimeScalar, { nullable: true, description: 'When the provider took it.' })
  get acceptedAt(): Date | null {
    return this.attempt.acceptedAt;
  }

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'When the provider had said its last word.',
  })
  get completedAt(): Date | null {
    return this.attempt.completedAt;
  }
}
