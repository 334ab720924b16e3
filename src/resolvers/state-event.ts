import { Field, ID, Int, ObjectType } from 'type-graphql';

import type { TaskStatus } from '../domain/generation/statuses';
import type { StateEvent } from '../ports/read-model';
import { GenerationStatusEnum } from './generation-words';
import { toPublicId } from './public-id';
import { DateTimeScalar } from './scalars';

@ObjectType('GenerationEvent', {
  description:
    'One entry of the history of a generation: a transition, or something that changed nothing, and why.',
})
export class StateEventType {
  constructor(readonly event: StateEvent) {}

  @Field(() => ID, { description: 'Of this entry.' })
  get id(): string {
    return toPublicId('event', this.event.eventId);
  }

  @Field(() => String, { description: 'What happened, as provider_accepted.' })
  get type(): string {
    return this.event.type;
  }

  @Field(() => String, {
    description: 'Who saw it: api, scheduler, worker, callback, polling, reconciler or admin.',
  })
  get source(): string {
    return this.event.source;
  }

  @Field(() => GenerationStatusEnum, { nullable: true, description: 'The status before.' })
  get fromStatus(): TaskStatus | null {
    return this.event.fromStatus;
  }

  @Field(() => GenerationStatusEnum, { description: 'The status after.' })
  get toStatus(): TaskStatus {
    return this.event.toStatus;
  }

  @Field(() => Int, { description: 'The version of the generation after it.' })
  get version(): number {
    return this.event.taskVersion;
  }

  @Field(() => String, {
    nullable: true,
    description: 'Why it changed nothing, as TERMINAL or NO_NEWS; null for a transition.',
  })
  get ignoredReason(): string | null {
    return this.event.ignoredReason;
  }

  @Field(() => ID, { nullable: true, description: 'The attempt it speaks of.' })
  get attemptId(): string | null {
    return this.event.attemptId === null ? null : toPublicId('attempt', this.event.attemptId);
  }

  @Field(() => DateTimeScalar, { description: 'When it was seen.' })
  get observedAt(): Date {
    return this.event.observedAt;
  }

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'When it happened by the provider’s own clock.',
  })
  get providerAt(): Date | null {
    return this.event.providerUpdatedAt;
  }
}
