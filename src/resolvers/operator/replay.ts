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

import { replayMessage } from '../../flow/operate/replay-message';
import { replayProviderEvent } from '../../flow/operate/replay-provider-event';
import type { ApiContext } from '../api-context';
import { enumType } from '../enum-type';
import { toPublicId, toUuid } from '../public-id';
import { OrderInput, orderOf } from './order';
import { orderPayload, type PayloadOf } from './payload';

type ReplayOutcome = 'PUBLISHED_AGAIN' | 'DELIVERED_AGAIN' | 'ASKED_AGAIN';

const ReplayOutcomeEnum = enumType<ReplayOutcome>('ReplayOutcome', 'What a replay did.', {
  PUBLISHED_AGAIN: 'It had died in the outbox, and leaves it again.',
  DELIVERED_AGAIN: 'It had died on the bus, and is delivered again.',
  ASKED_AGAIN: 'The stored event is judged again, as the same event.',
});

@ObjectType({
  description: 'A replay. What is replayed keeps its id, so nobody takes it for a new one.',
})
export class Replay {
  @Field(() => ID, { description: 'Of what was replayed, as `msg_…` or `pev_…`.' })
  id!: string;

  @Field(() => ReplayOutcomeEnum, { description: 'What was done.' })
  outcome!: ReplayOutcome;

  @Field(() => [String], { description: 'Consumer groups that get it again.' })
  groups!: readonly string[];
}

const messagePayload = orderPayload('MessageReplay', 'replay', () => Replay, {
  NOT_DEAD: 'Nobody gave it up.',
  ALREADY_HANDLED: 'Everybody who reads it has handled it.',
});
const providerEventPayload = orderPayload('ProviderEventReplay', 'replay', () => Replay, {
  ALREADY_HANDLED: 'It was judged, and belongs to its attempt.',
});

@InputType({ description: 'Which dead message shall be delivered again.' })
export class MessageReplayInput extends OrderInput {
  @Field(() => ID, { description: 'As `msg_…`, from `deadMessages`.' })
  messageId!: string;
}

@InputType({ description: 'Which stored word of a provider shall be judged again.' })
export class ProviderEventReplayInput extends OrderInput {
  @Field(() => ID, { description: 'As `pev_…`.' })
  providerEventId!: string;
}

@Resolver()
export class ReplayResolver {
  @Authorized('operator')
  @Mutation(() => messagePayload.type, {
    description: 'Operator: publishes a dead message again, under its own id.',
  })
  async messageReplay(
    @Arg('input', () => MessageReplayInput, { description: 'What is asked.' })
    input: MessageReplayInput,
    @Ctx() context: ApiContext,
  ): Promise<PayloadOf<typeof messagePayload>> {
    const { deps } = context;
    const eventId = toUuid('message', input.messageId);
    const acted = await replayMessage(deps.context, deps.bus, eventId, orderOf(context, input));
    return messagePayload.from(acted, ({ groups }) => ({
      id: toPublicId('message', eventId),
      outcome: groups.length === 0 ? 'PUBLISHED_AGAIN' : 'DELIVERED_AGAIN',
      groups,
    }));
  }

  @Authorized('operator')
  @Mutation(() => providerEventPayload.type, {
    description:
      'Operator: judges a stored callback or poll answer again, under its own id, when it has found no attempt yet.',
  })
  async providerEventReplay(
    @Arg('input', () => ProviderEventReplayInput, { description: 'What is asked.' })
    input: ProviderEventReplayInput,
    @Ctx() context: ApiContext,
  ): Promise<PayloadOf<typeof providerEventPayload>> {
    const { deps } = context;
    const id = toUuid('providerEvent', input.providerEventId);
    const acted = await replayProviderEvent(deps.context, deps.bus, id, orderOf(context, input));
    return providerEventPayload.from(acted, ({ messageId }) => ({
      id: toPublicId('providerEvent', id),
      outcome: messageId === null ? 'ASKED_AGAIN' : 'PUBLISHED_AGAIN',
      groups: ['reducer'],
    }));
  }
}
