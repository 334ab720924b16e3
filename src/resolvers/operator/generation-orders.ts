import { Arg, Authorized, Ctx, Field, ID, InputType, Mutation, Resolver } from 'type-graphql';

import { decideOutput, type OutputVerdict } from '../../flow/operate/decide-output';
import { requeueGeneration } from '../../flow/operate/requeue-generation';
import { retryMedia } from '../../flow/operate/retry-media';
import { stopGeneration } from '../../flow/operate/stop-generation';
import type { ApiContext } from '../api-context';
import { enumType } from '../enum-type';
import { GenerationType } from '../generation-type';
import { toUuid } from '../public-id';
import { OrderInput, orderOf } from './order';
import { orderPayload, type PayloadOf } from './payload';

const OutputVerdictEnum = enumType<OutputVerdict>(
  'OutputVerdict',
  'What becomes of an output whose bytes differ from those at its key.',
  {
    FETCH_NEXT: 'It is fetched once more, to a key of its own; the old bytes stay.',
    GIVE_UP: 'The generation fails and its credits return.',
  },
);

const generation = <Code extends string>(name: string, codes: Readonly<Record<Code, string>>) =>
  orderPayload(name, 'generation', () => GenerationType, codes);

const requeuePayload = generation('GenerationRequeue', {
  NOTHING_TO_REQUEUE: 'No message carries it on: the queue, the provider or nobody does.',
  JOB_MAY_LIVE: 'An earlier attempt may have a living job.',
  NEEDS_DECISION: 'It waits for outputDecide or mediaRetry.',
});
const stopPayload = generation('GenerationStop', {
  ALREADY_FINISHED: 'It has ended; its status says how.',
  ALREADY_REQUESTED: 'It was asked to stop before.',
});
const outputPayload = generation('OutputDecide', {
  NOT_WAITING_FOR_OPERATOR: 'No output of it waits for a decision.',
});
const mediaPayload = generation('MediaRetry', {
  NOTHING_TO_RETRY: 'No media of it waits for a person.',
  OUTPUT_GONE: 'The raw output cannot be read any more.',
});

@InputType({ description: 'Which generation shall go on now.' })
export class GenerationRequeueInput extends OrderInput {
  @Field(() => ID, { description: 'Of any account.' })
  generationId!: string;
}

@InputType({ description: 'Which generation shall stop.' })
export class GenerationStopInput extends OrderInput {
  @Field(() => ID, { description: 'Of any account.' })
  generationId!: string;
}

@InputType({ description: 'A person’s decision on an output that differs from what is stored.' })
export class OutputDecideInput extends OrderInput {
  @Field(() => ID, { description: 'Of any account.' })
  generationId!: string;

  @Field(() => OutputVerdictEnum, { description: 'The decision.' })
  verdict!: OutputVerdict;
}

@InputType({ description: 'Whose media is made again.' })
export class MediaRetryInput extends OrderInput {
  @Field(() => ID, { description: 'Of any account.' })
  generationId!: string;
}

const idOf = ({ generationId }: { readonly generationId: string }): string =>
  toUuid('generation', generationId);

@Resolver()
export class GenerationOrdersResolver {
  @Authorized('operator')
  @Mutation(() => requeuePayload.type, {
    description:
      'Operator: lets a generation go on now, when it waits for its retry or its message was lost. Never submits twice.',
  })
  async generationRequeue(
    @Arg('input', () => GenerationRequeueInput, { description: 'What is asked.' })
    input: GenerationRequeueInput,
    @Ctx() context: ApiContext,
  ): Promise<PayloadOf<typeof requeuePayload>> {
    const { deps } = context;
    const order = orderOf(context, input);
    const acted = await requeueGeneration(deps.context, deps.bus, idOf(input), order);
    return requeuePayload.from(acted, ({ task }) => new GenerationType(task));
  }

  @Authorized('operator')
  @Mutation(() => stopPayload.type, {
    description:
      'Operator: asks a generation of any account to stop. An intent, as generationCancel: completion wins over it.',
  })
  async generationStop(
    @Arg('input', () => GenerationStopInput, { description: 'What is asked.' })
    input: GenerationStopInput,
    @Ctx() context: ApiContext,
  ): Promise<PayloadOf<typeof stopPayload>> {
    const { deps } = context;
    const order = orderOf(context, input);
    const acted = await stopGeneration(deps.context, deps.slots, idOf(input), order);
    return stopPayload.from(acted, (task) => new GenerationType(task));
  }

  @Authorized('operator')
  @Mutation(() => outputPayload.type, {
    description: 'Operator: decides an output whose bytes differ from those that are stored.',
  })
  async outputDecide(
    @Arg('input', () => OutputDecideInput, { description: 'What is asked.' })
    input: OutputDecideInput,
    @Ctx() context: ApiContext,
  ): Promise<PayloadOf<typeof outputPayload>> {
    const decision = { verdict: input.verdict, ...orderOf(context, input) };
    const acted = await decideOutput(context.deps.context, idOf(input), decision);
    return outputPayload.from(acted, (task) => new GenerationType(task));
  }

  @Authorized('operator')
  @Mutation(() => mediaPayload.type, {
    description:
      'Operator: makes media again with a fresh budget, or what is missing beside a playable output. Never generates again.',
  })
  async mediaRetry(
    @Arg('input', () => MediaRetryInput, { description: 'What is asked.' })
    input: MediaRetryInput,
    @Ctx() context: ApiContext,
  ): Promise<PayloadOf<typeof mediaPayload>> {
    const acted = await retryMedia(context.deps.context, idOf(input), orderOf(context, input));
    return mediaPayload.from(acted, (task) => new GenerationType(task));
  }
}
