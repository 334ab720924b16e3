import { Field, ID, Int, ObjectType } from 'type-graphql';

import type { NextActor, NextStep } from '../domain/generation/next-actor';
import type { TaskStatus } from '../domain/generation/statuses';
import type { LimitName } from '../domain/scheduling/admission';
import type { LimitVerdict } from '../domain/scheduling/place-in-line';
import { entryInWords } from '../flow/explain/entry-words';
import type { Explanation } from '../flow/explain/explain-generation';
import type { Wait, WaitReason } from '../flow/explain/wait-words';
import type { TimelineEntry, TimelineKind } from '../ports/read-model';
import { enumType } from './enum-type';
import { GenerationStatusEnum } from './generation-words';
import { toPublicId } from './public-id';
import { DateTimeScalar, SafeIntScalar } from './scalars';

const TimelineKindEnum = enumType<TimelineKind>('TimelineKind', 'What kind of thing happened.', {
  API_CALL: 'Somebody called the API.',
  TRANSITION: 'The generation moved.',
  IGNORED: 'Something was seen and changed nothing; `reason` says why.',
  ATTEMPT: 'A submission was written down, sent, accepted or ended.',
  PROVIDER_ANSWER: 'A provider answered a question.',
  CALLBACK: 'A provider called back: accepted, repeated or refused.',
  LEDGER: 'Credits moved.',
  MODERATION: 'Content was judged.',
  MEDIA: 'A file was stored or made.',
  FINDING: 'Something was not as it should be.',
  OPERATOR: 'An operator acted.',
});

const NextActorEnum = enumType<NextActor>('NextActor', 'Who moves a generation on.', {
  API: 'The call that creates it.',
  SCHEDULER: 'Gives it a place at a provider.',
  PROVIDER_WORKER: 'Sends it, or asks to stop it.',
  POLLER: 'Asks the provider, unless that calls back first.',
  RECONCILER: 'Finds out what is in doubt.',
  OUTPUT_FETCH: 'Brings the output into our storage.',
  MEDIA: 'Makes it playable.',
  OPERATOR: 'A person at the operator.',
  NOBODY: 'Nothing is left to do.',
});

const WaitReasonEnum = enumType<WaitReason>('WaitReason', 'Why a generation waits.', {
  REVIEW: 'A person looks at the prompt.',
  RETRY_WAIT: 'A pause before another try.',
  TENANT_PAUSED: 'The account is paused.',
  PROVIDER_PAUSED: 'The provider, or the model, is paused.',
  CIRCUIT_OPEN: 'The provider failed too often; nothing new is sent to it for a while.',
  SLOTS_UNAVAILABLE: 'Places cannot be counted at present; nothing new is sent until they can.',
  LIMIT_REACHED: 'More stand in line than places are free; `limit` says which.',
  IN_LINE: 'A place is free for it; it is its turn soon.',
});

const LimitNameEnum = enumType<LimitName>('LimitName', 'What is limited.', {
  PLATFORM: 'Jobs of everybody at all providers.',
  PROVIDER: 'Jobs at the provider.',
  ACCOUNT: 'Jobs of our account at the provider.',
  TENANT: 'Jobs of this account.',
});

@ObjectType({ description: 'One thing that is known of an entry; times are ISO 8601 in UTC.' })
export class ExplanationFact {
  @Field(() => String, { description: 'As jobId or amountMicros; more may be added.' })
  name!: string;

  @Field(() => String, { description: 'As text.' })
  value!: string;
}

@ObjectType({ description: 'One thing that happened to a generation.' })
export class ExplanationEntry {
  constructor(readonly entry: TimelineEntry) {}

  @Field(() => DateTimeScalar, { description: 'When.' })
  get at(): Date {
    return this.entry.at;
  }

  @Field(() => TimelineKindEnum, { description: 'What kind of thing.' })
  get kind(): TimelineKind {
    return this.entry.kind;
  }

  @Field(() => String, { description: 'Who saw or wrote it, as scheduler, polling or ledger.' })
  get source(): string {
    return this.entry.source;
  }

  @Field(() => String, { description: 'As a stable word: provider_accepted, SETTLE, refused.' })
  get what(): string {
    return this.entry.what;
  }

  @Field(() => String, { description: 'For people.' })
  get text(): string {
    return entryInWords(this.entry);
  }

  @Field(() => String, {
    nullable: true,
    description: 'Whose doing it was; operators are named to operators only.',
  })
  get actor(): string | null {
    return this.entry.actor === null ? null : actorText(this.entry.actor);
  }

  @Field(() => ID, { nullable: true, description: 'The attempt it belongs to.' })
  get attemptId(): string | null {
    return this.entry.attemptId === null ? null : toPublicId('attempt', this.entry.attemptId);
  }

  @Field(() => [ExplanationFact], { description: 'What else is known of it.' })
  get facts(): ExplanationFact[] {
    return Object.entries(this.entry.facts)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => ({ name, value: factText(name, String(value)) }));
  }
}

const KEY_ACTOR = /^api_key:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

const actorText = (actor: string): string => {
  const [, keyId] = KEY_ACTOR.exec(actor) ?? [];
  return keyId === undefined ? actor : toPublicId('apiKey', keyId);
};

const PUBLIC_IDS = { apiKeyId: 'apiKey', quoteId: 'quote', assetId: 'asset' } as const;

const factText = (name: string, value: string): string => {
  if (name in PUBLIC_IDS) return toPublicId(PUBLIC_IDS[name as keyof typeof PUBLIC_IDS], value);
  return /At$/.test(name) ? new Date(value).toISOString() : value;
};

@ObjectType({ description: 'A limit that a generation waits for.' })
export class WaitLimit {
  @Field(() => LimitNameEnum, { description: 'What is limited.' })
  name!: LimitName;

  @Field(() => Int, { description: 'In use.' })
  used!: number;

  @Field(() => Int, { description: 'At most.' })
  max!: number;

  @Field(() => Int, {
    description: 'How many places must come free before it is its turn; 1 = the next is its own.',
  })
  position!: number;
}

@ObjectType({ description: 'Why a generation waits, as the scheduler sees it.' })
export class ExplanationWait {
  constructor(readonly wait: Wait) {}

  @Field(() => WaitReasonEnum, { description: 'As a word.' })
  get reason(): WaitReason {
    return this.wait.reason;
  }

  @Field(() => String, { description: 'As “tenant limit 5 of 5, third in line, about 40 s”.' })
  get text(): string {
    return this.wait.text;
  }

  @Field(() => DateTimeScalar, { description: 'Since when.' })
  get since(): Date {
    return this.wait.since;
  }

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'Not before this, where a pause was set.',
  })
  get until(): Date | null {
    return this.wait.until;
  }

  @Field(() => WaitLimit, { nullable: true, description: 'What holds it up, where a limit does.' })
  get limit(): LimitVerdict | null {
    return this.wait.limit;
  }

  @Field(() => Int, {
    nullable: true,
    description: 'Place in the order in which the scheduler serves all tenants, 1 = next.',
  })
  get position(): number | null {
    return this.wait.position;
  }

  @Field(() => SafeIntScalar, {
    nullable: true,
    description:
      'About how long still, in milliseconds, by how long jobs took of late; null when nobody knows.',
  })
  get estimateMs(): number | null {
    return this.wait.estimateMs;
  }
}

@ObjectType({ description: 'What happens next with a generation.' })
export class ExplanationNow {
  constructor(
    readonly taskStatus: TaskStatus,
    readonly step: NextStep,
    readonly waiting: Wait | null,
  ) {}

  @Field(() => GenerationStatusEnum, { description: 'Where it stands.' })
  get status(): TaskStatus {
    return this.taskStatus;
  }

  @Field(() => NextActorEnum, { description: 'Who acts next.' })
  get actor(): NextActor {
    return this.step.actor;
  }

  @Field(() => String, { description: 'What then happens, for people.' })
  get doing(): string {
    return this.step.doing;
  }

  @Field(() => DateTimeScalar, { nullable: true, description: 'When; null: as soon as it can.' })
  get at(): Date | null {
    return this.step.at;
  }

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'Until when a worker holds the step; the reconciler takes it over then.',
  })
  get leaseUntil(): Date | null {
    return this.step.leaseUntil;
  }

  @Field(() => ExplanationWait, { nullable: true, description: 'Only while it waits.' })
  get wait(): ExplanationWait | null {
    return this.waiting === null ? null : new ExplanationWait(this.waiting);
  }
}

@ObjectType({
  description: 'Everything that is known of a generation in one order, and what happens next.',
})
export class GenerationExplanation {
  constructor(readonly explanation: Explanation) {}

  @Field(() => ID, { description: 'Of the generation.' })
  get generationId(): string {
    return toPublicId('generation', this.explanation.task.id);
  }

  @Field(() => [ExplanationEntry], {
    description: 'Oldest first; of things at the same time the cause first. At most 1000.',
  })
  get entries(): ExplanationEntry[] {
    return this.explanation.entries.map((entry) => new ExplanationEntry(entry));
  }

  @Field(() => Boolean, { description: 'Whether older entries were left out.' })
  get isCut(): boolean {
    return this.explanation.isCut;
  }

  @Field(() => ExplanationNow, { description: 'What happens next.' })
  get now(): ExplanationNow {
    const { task, next, wait } = this.explanation;
    return new ExplanationNow(task.status, next, wait);
  }
}
