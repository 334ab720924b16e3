import { Length, NotContains, ValidateIf } from 'class-validator';
import { Arg, Authorized, Ctx, Field, ID, InputType, Mutation, Resolver } from 'type-graphql';

import {
  decideUnknownSubmit,
  type SubmitRefusal,
  type SubmitVerdict,
} from '../../flow/operate/decide-unknown-submit';
import type { ApiContext } from '../api-context';
import { AttemptType } from '../attempt';
import { enumType } from '../enum-type';
import { toUuid } from '../public-id';
import { OrderInput, orderOf } from './order';
import { orderPayload, type PayloadOf } from './payload';

const UnknownSubmitVerdictEnum = enumType<SubmitVerdict>(
  'UnknownSubmitVerdict',
  'What a person found out about a submit whose answer was lost.',
  {
    BIND: 'Its job is this one.',
    DECLARE_ABSENT: 'The provider created nothing: it may be sent again.',
    NEW_ATTEMPT: 'It cannot be known; another attempt is sent, at the risk of paying for two.',
    GIVE_UP: 'It cannot be known; the generation ends and its credits return.',
  },
);

const CODES: Readonly<Record<SubmitRefusal, string>> = {
  NOT_UNKNOWN: 'What became of the submit is known.',
  ALREADY_DECIDED: 'It was decided before.',
  NOT_ALLOWED: 'Nothing more is sent for a generation that shall stop, has ended or goes on.',
  JOB_REQUIRED: 'BIND needs the id of the job.',
  JOB_UNEXPECTED: 'Only BIND takes a job.',
  JOB_NOT_FOUND: 'The provider knows no such job of the account.',
  JOB_NOT_OURS: 'The job does not carry the key of this submit: it is another’s, or nobody’s.',
  JOB_TAKEN: 'The job is another attempt’s.',
  PROVIDER_UNAVAILABLE: 'The provider could not be asked; try again.',
};
const payload = orderPayload('UnknownSubmitDecide', 'attempt', () => AttemptType, CODES);

@InputType({ description: 'A person’s decision on a submit whose answer was lost.' })
export class UnknownSubmitDecideInput extends OrderInput {
  @Field(() => ID, { description: 'As `att_…`, of any account.' })
  attemptId!: string;

  @Field(() => UnknownSubmitVerdictEnum, { description: 'The decision.' })
  verdict!: SubmitVerdict;

  @Field(() => String, {
    nullable: true,
    description: 'For BIND: the provider’s own id of the job.',
  })
  @ValidateIf(({ jobId }: UnknownSubmitDecideInput) => jobId != null)
  @Length(0, 200)
  @NotContains('\0')
  jobId?: string | null;
}

@Resolver()
export class UnknownSubmitResolver {
  @Authorized('operator')
  @Mutation(() => payload.type, {
    description:
      'Operator: decides what became of a submit whose answer was lost. Each is decided by a person once.',
  })
  async unknownSubmitDecide(
    @Arg('input', () => UnknownSubmitDecideInput, { description: 'What is asked.' })
    input: UnknownSubmitDecideInput,
    @Ctx() context: ApiContext,
  ): Promise<PayloadOf<typeof payload>> {
    const { provider, slots, context: flow } = context.deps;
    const acted = await decideUnknownSubmit(
      flow,
      { ...provider, slots },
      toUuid('attempt', input.attemptId),
      { verdict: input.verdict, jobId: input.jobId ?? null, ...orderOf(context, input) },
    );
    return payload.from(acted, ({ attempt }) => new AttemptType(attempt));
  }
}
