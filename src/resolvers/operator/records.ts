import { Field, ID, Int, ObjectType } from 'type-graphql';

import type { AuditEntry, DeadMessage } from '../../ports/operator-reads';
import { connectionType } from '../connection';
import { enumType } from '../enum-type';
import { toPublicId } from '../public-id';
import { DateTimeScalar, JsonObjectScalar } from '../scalars';
import { publicSubject, tenantIdOf } from './subject';

const DeadPlaceEnum = enumType<DeadMessage['place']>('DeadPlace', 'Where a message was given up.', {
  OUTBOX: 'By the relay: it never reached the bus.',
  BUS: 'By a consumer group, after its last delivery.',
});

@ObjectType('DeadMessage', {
  description: 'A message that was given up. messageReplay brings it back.',
})
export class DeadMessageType {
  constructor(private readonly message: DeadMessage) {}

  @Field(() => ID, { description: 'As `msg_…`.' })
  get id(): string {
    return toPublicId('message', this.message.id);
  }

  @Field(() => DeadPlaceEnum, { description: 'Where it was given up.' })
  get place(): DeadMessage['place'] {
    return this.message.place;
  }

  @Field(() => String, { nullable: true, description: 'Who gave it up, on the bus.' })
  get consumerGroup(): string | null {
    return this.message.consumerGroup;
  }

  @Field(() => String, { description: 'What it says.' })
  get type(): string {
    return this.message.type;
  }

  @Field(() => ID, { nullable: true, description: 'Whose it is.' })
  get tenantId(): string | null {
    return tenantIdOf(this.message);
  }

  @Field(() => Int, { description: 'How often it was tried.' })
  get tries(): number {
    return this.message.tries;
  }

  @Field(() => String, { nullable: true, description: 'Why the last try failed.' })
  get lastError(): string | null {
    return this.message.lastError;
  }

  @Field(() => DateTimeScalar, { description: 'When it was written.' })
  get occurredAt(): Date {
    return this.message.occurredAt;
  }
}

export const DeadMessageConnection = connectionType('DeadMessage', () => DeadMessageType);

@ObjectType('AuditEntry', {
  description: 'Who did what to what, why, and how it stood before and after. Never changed.',
})
export class AuditEntryType {
  constructor(private readonly entry: AuditEntry) {}

  @Field(() => ID, { description: 'As `aud_…`.' })
  get id(): string {
    return toPublicId('auditEntry', this.entry.id);
  }

  @Field(() => String, { description: 'Who, as `api_key:…`.' })
  get actor(): string {
    return this.entry.actor;
  }

  @Field(() => String, { description: 'What was asked, as `submit.bind`.' })
  get action(): string {
    return this.entry.action;
  }

  @Field(() => String, { description: 'What kind of thing it was asked of.' })
  get subjectKind(): string {
    return this.entry.subjectKind;
  }

  @Field(() => String, { description: 'The public id of that thing, where it has one.' })
  get subjectId(): string {
    return publicSubject(this.entry.subjectKind, this.entry.subjectId);
  }

  @Field(() => ID, { nullable: true, description: 'Whose it is.' })
  get tenantId(): string | null {
    return tenantIdOf(this.entry);
  }

  @Field(() => String, { nullable: true, description: 'Why.' })
  get reason(): string | null {
    return this.entry.reason;
  }

  @Field(() => String, {
    nullable: true,
    description: 'The code with which it was refused; null where it was done.',
  })
  get refusedWith(): string | null {
    const code = this.entry.after?.['refused'];
    return typeof code === 'string' ? code : null;
  }

  @Field(() => JsonObjectScalar, { nullable: true, description: 'How it stood.' })
  get before(): Readonly<Record<string, unknown>> | null {
    return this.entry.before;
  }

  @Field(() => JsonObjectScalar, { nullable: true, description: 'How it stood afterwards.' })
  get after(): Readonly<Record<string, unknown>> | null {
    return this.entry.after;
  }

  @Field(() => DateTimeScalar, { description: 'When.' })
  get createdAt(): Date {
    return this.entry.createdAt;
  }
}

export const AuditEntryConnection = connectionType('AuditEntry', () => AuditEntryType);
