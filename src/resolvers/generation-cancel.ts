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

import { cancelGeneration } from '../flow/create/cancel-generation';
import { callerOf, type ApiContext } from './api-context';
import { enumType } from './enum-type';
import { GenerationType } from './generation-type';
import { moneyOf } from './generation-answers';
import { toUuid } from './public-id';
import { MoneyScalar } from './scalars';
import { userErrorType } from './user-error';

const GenerationCancelErrorCode = enumType(
  'GenerationCancelErrorCode',
  'Why a generation cannot be canceled.',
  {
    GENERATION_NOT_FOUND: 'There is no such generation.',
    ALREADY_FINISHED: 'It has ended; its status says how.',
  },
);

const cancelError = userErrorType(
  'GenerationCancelError',
  GenerationCancelErrorCode,
  'Why a generation cannot be canceled.',
);

@InputType({ description: 'Which generation shall stop.' })
export class GenerationCancelInput {
  @Field(() => ID, { description: 'As `gen_…`.' })
  generationId!: string;
}

@ObjectType({ description: 'Answer of generationCancel.' })
export class GenerationCancelPayload {
  @Field(() => GenerationType, { nullable: true, description: 'As it stands now.' })
  generation!: GenerationType | null;

  @Field(() => Boolean, {
    description:
      'Nothing runs any more. When false, the provider has the job and may still finish it: completion wins over cancel, ' +
      'and the generation says what becomes of it.',
  })
  stopped!: boolean;

  @Field(() => Boolean, { description: 'It had been asked before.' })
  repeated!: boolean;

  @Field(() => MoneyScalar, { nullable: true, description: 'The most that may still be charged.' })
  stillChargeable!: bigint | null;

  @Field(() => [cancelError.type], { description: 'Empty when it was asked.' })
  userErrors!: readonly ReturnType<typeof cancelError.from>[];
}

@Resolver()
export class GenerationCancelResolver {
  @Authorized('generations:write')
  @Mutation(() => GenerationCancelPayload, {
    description:
      'Asks a generation to stop. What was sent to a provider stops only when the provider confirms.',
  })
  async generationCancel(
    @Arg('input', () => GenerationCancelInput, { description: 'What is asked.' })
    input: GenerationCancelInput,
    @Ctx() context: ApiContext,
  ): Promise<GenerationCancelPayload> {
    const caller = callerOf(context);
    const { deps } = context;
    const outcome = await cancelGeneration(deps.context, deps.slots, {
      tenantId: caller.tenantId,
      taskId: toUuid('generation', input.generationId),
      reason: 'USER',
      actor: `api_key:${caller.keyId}`,
    });
    if (outcome.kind === 'NOT_FOUND') return NOT_FOUND;
    const generation = new GenerationType(outcome.task);
    if (outcome.kind === 'ALREADY_FINISHED') {
      return {
        generation,
        stopped: true,
        repeated: false,
        stillChargeable: 0n,
        userErrors: [cancelError.from(ALREADY_FINISHED)],
      };
    }
    const { held, charged } = await moneyOf(context, outcome.task);
    return {
      generation,
      stopped: outcome.stopped,
      repeated: outcome.repeated,
      stillChargeable: outcome.stopped ? charged : held,
      userErrors: [],
    };
  }
}

const ALREADY_FINISHED = {
  code: 'ALREADY_FINISHED',
  message: 'The generation has ended; nothing was changed.',
  field: 'generationId',
} as const;

const NOT_FOUND: GenerationCancelPayload = {
  generation: null,
  stopped: false,
  repeated: false,
  stillChargeable: null,
  userErrors: [
    cancelError.from({
      code: 'GENERATION_NOT_FOUND',
      message: 'There is no such generation.',
      field: 'generationId',
    }),
  ],
};
