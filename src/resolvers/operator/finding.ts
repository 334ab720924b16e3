import {
  Arg,
  Authorized,
  Ctx,
  Field,
  ID,
  InputType,
  Mutation,
  ObjectType,
  Resolver,
} from 'type-graphql';

import { FINDING_KINDS, type FindingKind } from '../../domain/generation/decision';
import { resolveFinding } from '../../flow/operate/resolve-finding';
import type { Finding } from '../../ports/stores/operations-store';
import type { ApiContext } from '../api-context';
import { connectionType } from '../connection';
import { enumType } from '../enum-type';
import { toPublicId, toUuid } from '../public-id';
import { DateTimeScalar, JsonObjectScalar } from '../scalars';
import { OrderInput, orderOf } from './order';
import { orderPayload, type PayloadOf } from './payload';
import { publicSubject, tenantIdOf } from './subject';

export const FindingKindEnum = enumType<FindingKind>(
  'FindingKind',
  'What is wrong.',
  Object.fromEntries(
    FINDING_KINDS.map((kind) => [kind, `${kind.toLowerCase().replaceAll('_', ' ')}.`]),
  ) as Record<FindingKind, string>,
);

@ObjectType('Finding', {
  description: 'Something that is not as it should be: what, since when, what was done.',
})
export class FindingType {
  constructor(private readonly finding: Finding) {}

  @Field(() => ID, { description: 'As `fnd_…`.' })
  get id(): string {
    return toPublicId('finding', this.finding.id);
  }

  @Field(() => FindingKindEnum, { description: 'What is wrong.' })
  get kind(): FindingKind {
    return this.finding.kind;
  }

  @Field(() => String, { description: 'What kind of thing it was found on.' })
  get subjectKind(): string {
    return this.finding.subjectKind;
  }

  @Field(() => String, { description: 'The public id of that thing, where it has one.' })
  get subjectId(): string {
    return publicSubject(this.finding.subjectKind, this.finding.subjectId);
  }

  @Field(() => ID, { nullable: true, description: 'Whose it is.' })
  get tenantId(): string | null {
    return tenantIdOf(this.finding);
  }

  @Field(() => JsonObjectScalar, { description: 'What was seen. Ids in here are internal ones.' })
  get detail(): Readonly<Record<string, unknown>> {
    return this.finding.detail;
  }

  @Field(() => String, { nullable: true, description: 'What the product did about it by itself.' })
  get actionTaken(): string | null {
    return this.finding.actionTaken;
  }

  @Field(() => DateTimeScalar, { description: 'Since when.' })
  get firstSeenAt(): Date {
    return this.finding.firstSeenAt;
  }

  @Field(() => DateTimeScalar, { description: 'When it was last seen.' })
  get lastSeenAt(): Date {
    return this.finding.lastSeenAt;
  }

  @Field(() => DateTimeScalar, { nullable: true, description: 'When it was dealt with.' })
  get resolvedAt(): Date | null {
    return this.finding.resolvedAt;
  }

  @Field(() => String, { nullable: true, description: 'Who dealt with it.' })
  get resolvedBy(): string | null {
    return this.finding.resolvedBy;
  }

  @Field(() => String, { nullable: true, description: 'How, and why that is enough.' })
  get resolution(): string | null {
    return this.finding.resolution;
  }
}

export const FindingConnection = connectionType('Finding', () => FindingType);

const payload = orderPayload('FindingResolve', 'finding', () => FindingType, {
  ALREADY_RESOLVED: 'It was resolved before.',
});

@InputType({ description: 'Which finding is dealt with; the reason is its resolution.' })
export class FindingResolveInput extends OrderInput {
  @Field(() => ID, { description: 'As `fnd_…`.' })
  findingId!: string;
}

@Resolver()
export class FindingResolver {
  @Authorized('operator')
  @Mutation(() => payload.type, {
    description:
      'Operator: says that a finding is dealt with. It opens again when it is seen again.',
  })
  async findingResolve(
    @Arg('input', () => FindingResolveInput, { description: 'What is asked.' })
    input: FindingResolveInput,
    @Ctx() context: ApiContext,
  ): Promise<PayloadOf<typeof payload>> {
    const id = toUuid('finding', input.findingId);
    const acted = await resolveFinding(context.deps.context, id, orderOf(context, input));
    return payload.from(acted, (finding) => new FindingType(finding));
  }
}
