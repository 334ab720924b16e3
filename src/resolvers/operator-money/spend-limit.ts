import { Length } from 'class-validator';
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

import { setSpendLimit, type SpendLimitRefusal } from '../../flow/bill/set-spend-limit';
import type { SpendPeriod } from '../../ports/stores/money-store';
import type { ApiContext } from '../api-context';
import { enumType } from '../enum-type';
import { toUuid } from '../public-id';
import { actorOf } from '../operator/order';
import { MoneyScalar } from '../scalars';
import { SpendLimitType, SpendPeriodEnum } from '../spend-limit-type';
import { userErrorType } from '../user-error';
import { TEXT_CHARS_MAX } from './text-limits';

const SpendLimitErrorCode = enumType<SpendLimitRefusal>(
  'SpendLimitErrorCode',
  'Why no limit was changed.',
  {
    TENANT_NOT_FOUND: 'There is no such account, or it never had credits.',
    API_KEY_NOT_FOUND: 'The account has no such key, or it is revoked.',
    PERIOD_INVALID: 'The budget of an account is monthly.',
    REASON_REQUIRED: 'A change has a reason.',
  },
);
const limitError = userErrorType(
  'SpendLimitError',
  SpendLimitErrorCode,
  'Why no limit was changed.',
);

@InputType({ description: 'A limit of an account, or of one of its API keys.' })
export class SpendLimitSetInput {
  @Field(() => ID, { description: 'As `ten_…`.' })
  tenantId!: string;

  @Field(() => ID, { nullable: true, description: 'The key; without one the account as a whole.' })
  apiKeyId?: string | null;

  @Field(() => MoneyScalar, { nullable: true, description: 'Left out: there shall be no limit.' })
  limit?: bigint | null;

  @Field(() => SpendPeriodEnum, {
    nullable: true,
    description: 'Monthly unless told; an account has a monthly budget only.',
  })
  period?: SpendPeriod | null;

  @Field(() => String, { description: 'For the audit log.' })
  @Length(0, TEXT_CHARS_MAX)
  reason!: string;
}

@ObjectType({ description: 'Answer of spendLimitSet.' })
export class SpendLimitSetPayload {
  @Field(() => [SpendLimitType], {
    nullable: true,
    description: 'All limits of the account, afterwards.',
  })
  limits!: readonly SpendLimitType[] | null;

  @Field(() => [limitError.type], { description: 'Empty when it was changed.' })
  userErrors!: readonly ReturnType<typeof limitError.from>[];
}

@Resolver()
export class SpendLimitResolver {
  @Authorized('operator')
  @Mutation(() => SpendLimitSetPayload, {
    description:
      'Operator: bounds what an account spends in a month, or one of its API keys in a month or ever. What was spent before ' +
      'counts.',
  })
  async spendLimitSet(
    @Arg('input', () => SpendLimitSetInput, { description: 'What is asked.' })
    input: SpendLimitSetInput,
    @Ctx() context: ApiContext,
  ): Promise<SpendLimitSetPayload> {
    const outcome = await setSpendLimit(context.deps.context, {
      tenantId: toUuid('tenant', input.tenantId),
      apiKeyId: input.apiKeyId == null ? null : toUuid('apiKey', input.apiKeyId),
      limit:
        input.limit == null ? null : { period: input.period ?? 'MONTH', limitMicros: input.limit },
      reason: input.reason,
      actor: actorOf(context),
    });
    return outcome.kind === 'REFUSED'
      ? { limits: null, userErrors: [limitError.from(outcome)] }
      : { limits: outcome.limits.map((row) => new SpendLimitType(row)), userErrors: [] };
  }
}
