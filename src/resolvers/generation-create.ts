import { MaxLength } from 'class-validator';
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

import { createGeneration, type CreateOutcome } from '../flow/create/create-generation';
import { callerOf, type ApiContext } from './api-context';
import { ApiError, overloaded } from './errors';
import {
  generationError,
  GenerationRequestInput,
  toRequestInput,
  type GenerationError,
} from './generation-input';
import { GenerationType } from './generation-type';
import { hasProject } from './project';
import { toUuid } from './public-id';
import { MoneyScalar } from './scalars';

const KEY_CHARS_MAX = 255;
const CREATE_WAIT_MS = 10_000;

@InputType({ description: 'A paid generation.' })
export class GenerationCreateInput extends GenerationRequestInput {
  @Field(() => String, {
    nullable: true,
    description:
      'Required, here or as the header `Idempotency-Key`: 1 to 255 visible ASCII characters, new for each generation. The ' +
      'same key with the same request answers the original; with another request it is a conflict. Kept as long as the generation.',
  })
  // One more than allowed, so that a long key is a refusal with its own code.
  @MaxLength(KEY_CHARS_MAX + 1)
  idempotencyKey?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'A quote for the same parameters: its price is charged.',
  })
  quoteId?: string | null;

  @Field(() => MoneyScalar, { nullable: true, description: 'Refuse a higher price than this.' })
  maxCredits?: bigint | null;

  @Field(() => ID, { nullable: true, description: 'The project that it shall belong to.' })
  projectId?: string | null;
}

@ObjectType({ description: 'Answer of generationCreate.' })
export class GenerationCreatePayload {
  @Field(() => GenerationType, {
    nullable: true,
    description: 'Accepted, with its price reserved.',
  })
  generation!: GenerationType | null;

  @Field(() => Boolean, {
    description:
      'The key was used before with the same request: this is the original. Also a header, Idempotent-Replayed.',
  })
  replayed!: boolean;

  @Field(() => [generationError.type], { description: 'Empty when it was accepted.' })
  userErrors!: readonly GenerationError[];
}

const refused = (refusal: Parameters<typeof generationError.from>[0]): GenerationCreatePayload => ({
  generation: null,
  replayed: false,
  userErrors: [generationError.from(refusal)],
});

@Resolver()
export class GenerationCreateResolver {
  @Authorized('generations:write')
  @Mutation(() => GenerationCreatePayload, {
    description:
      'Reserves the price and accepts the generation: HTTP 202 when this is all a request asks. A refusal writes nothing ' +
      'and charges nothing.',
  })
  async generationCreate(
    @Arg('input', () => GenerationCreateInput, { description: 'What is asked.' })
    input: GenerationCreateInput,
    @Ctx() context: ApiContext,
  ): Promise<GenerationCreatePayload> {
    const caller = callerOf(context);
    const { deps, requestId } = context;
    const key = keyOf(input, context);
    if (key === null) return refused(KEY_MISMATCH);
    if (!(await hasProject(context, input.projectId))) return refused(PROJECT_NOT_FOUND);
    const outcome = await boundWait(
      context,
      createGeneration(deps.context, deps.moderation, {
        tenantId: caller.tenantId,
        projectId: input.projectId == null ? null : toUuid('project', input.projectId),
        apiKeyId: caller.keyId,
        idempotencyKey: key,
        request: toRequestInput(input),
        quoteId: input.quoteId == null ? null : toUuid('quote', input.quoteId),
        maxMicros: input.maxCredits ?? null,
        traceId: requestId,
      }),
    );
    deps.metrics.count('aivedio_generations_total', {
      outcome: outcome.kind === 'REFUSED' ? outcome.code : outcome.kind,
    });
    if (outcome.kind === 'OVERLOADED') throw overloaded(outcome.retryAfterMs);
    if (outcome.kind === 'REFUSED') return refused(outcome);
    const replayed = outcome.kind === 'REPLAYED';
    context.answer.accepted = true;
    context.answer.replayed = replayed;
    return { generation: new GenerationType(outcome.task), replayed, userErrors: [] };
  }
}

/**
 * The same key may be in the hands of another request that has not finished. The work goes on behind the answer: whoever
 * comes back with the key gets what became of it.
 */
const boundWait = async (
  { deps, requestId }: ApiContext,
  work: Promise<CreateOutcome>,
): Promise<CreateOutcome> => {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<'OVER'>((resolve) => {
    timer = setTimeout(() => resolve('OVER'), deps.createWaitMs ?? CREATE_WAIT_MS);
  });
  const first = await Promise.race([work, limit]);
  clearTimeout(timer);
  if (first !== 'OVER') return first;
  work.catch((error: unknown) => {
    deps.log.warn('a create failed after its answer', { requestId, error: String(error) });
  });
  throw new ApiError(
    'IDEMPOTENCY_IN_PROGRESS',
    'The request, or an earlier one with its key, is still being worked on; repeat it with the same key.',
  );
};

const KEY_MISMATCH = {
  code: 'IDEMPOTENCY_KEY_MISMATCH',
  message: 'The header Idempotency-Key and the field idempotencyKey name different keys; send one.',
  field: 'idempotencyKey',
} as const;

const PROJECT_NOT_FOUND = {
  code: 'PROJECT_NOT_FOUND',
  message: 'There is no such project.',
  field: 'projectId',
} as const;

/** The key from the field or the header; null when both are there and differ. An absent one is judged by the use case. */
const keyOf = (
  { idempotencyKey }: GenerationCreateInput,
  { idempotencyKeyHeader }: ApiContext,
): string | null => {
  if (idempotencyKey == null) return idempotencyKeyHeader ?? '';
  if (idempotencyKeyHeader === null) return idempotencyKey;
  return idempotencyKey === idempotencyKeyHeader ? idempotencyKey : null;
};
