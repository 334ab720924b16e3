import { ArrayMaxSize, ArrayMinSize, Length } from 'class-validator';
import {
  Arg,
  Authorized,
  Ctx,
  Field,
  ID,
  InputType,
  Mutation,
  ObjectType,
  Query,
  Resolver,
} from 'type-graphql';

import { API_SCOPES, type ApiKey, type ApiScope } from '../ports/api-keys';
import { callerOf, type ApiContext } from './api-context';
import { enumType } from './enum-type';
import { Node } from './node';
import { toPublicId, toUuid } from './public-id';
import { DateTimeScalar } from './scalars';
import { userErrorType } from './user-error';

const NAME_CHARS_MAX = 100;

const ApiKeyErrorCode = enumType('ApiKeyErrorCode', 'Why a key was not made or revoked.', {
  SCOPE_UNKNOWN: 'There is no such scope.',
  SCOPE_NOT_GRANTED: 'A key gives away only scopes that it has itself.',
  EXPIRY_IN_PAST: 'It would be over already.',
  API_KEY_NOT_FOUND: 'There is no such key.',
});

const keyError = userErrorType(
  'ApiKeyError',
  ApiKeyErrorCode,
  'Why a key was not made or revoked.',
);
type KeyError = ReturnType<typeof keyError.from>;

@ObjectType('ApiKey', {
  implements: Node,
  description: 'A key of the account, without its secret.',
})
export class ApiKeyType extends Node {
  constructor(readonly key: ApiKey) {
    super(toPublicId('apiKey', key.id));
  }

  @Field(() => String, { description: 'For people.' })
  get name(): string {
    return this.key.name;
  }

  @Field(() => String, { description: 'How the key begins: enough to recognise it.' })
  get prefix(): string {
    return this.key.prefix;
  }

  @Field(() => [String], { description: `What it may do, of ${API_SCOPES.join(', ')}.` })
  get scopes(): readonly ApiScope[] {
    return this.key.scopes;
  }

  @Field(() => DateTimeScalar, { nullable: true, description: 'Refused from then on.' })
  get expiresAt(): Date | null {
    return this.key.expiresAt;
  }

  @Field(() => DateTimeScalar, { nullable: true, description: 'Refused since then.' })
  get revokedAt(): Date | null {
    return this.key.revokedAt;
  }

  @Field(() => DateTimeScalar, { nullable: true, description: 'To the minute.' })
  get lastUsedAt(): Date | null {
    return this.key.lastUsedAt;
  }

  @Field(() => DateTimeScalar, { description: 'When it was made.' })
  get createdAt(): Date {
    return this.key.createdAt;
  }
}

@InputType({ description: 'A new key.' })
export class ApiKeyCreateInput {
  @Field(() => String, { description: `For people; 1 to ${NAME_CHARS_MAX} characters.` })
  @Length(1, NAME_CHARS_MAX)
  name!: string;

  @Field(() => [String], { description: `Of ${API_SCOPES.join(', ')}.` })
  @ArrayMinSize(1)
  @ArrayMaxSize(API_SCOPES.length)
  scopes!: string[];

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'Refused from then on; never when left out.',
  })
  expiresAt?: Date | null;
}

@ObjectType({ description: 'Answer of apiKeyCreate.' })
export class ApiKeyCreatePayload {
  @Field(() => ApiKeyType, { nullable: true, description: 'The key.' })
  apiKey!: ApiKeyType | null;

  @Field(() => String, {
    nullable: true,
    description: 'The whole key with its secret: shown now and never again.',
  })
  token!: string | null;

  @Field(() => [keyError.type], { description: 'Empty when it was made.' })
  userErrors!: readonly KeyError[];
}

@InputType({ description: 'Which key shall end.' })
export class ApiKeyRevokeInput {
  @Field(() => ID, { description: 'As `key_…`.' })
  apiKeyId!: string;
}

@ObjectType({ description: 'Answer of apiKeyRevoke.' })
export class ApiKeyRevokePayload {
  @Field(() => ApiKeyType, { nullable: true, description: 'The key, revoked.' })
  apiKey!: ApiKeyType | null;

  @Field(() => [keyError.type], { description: 'Empty when it was revoked.' })
  userErrors!: readonly KeyError[];
}

@Resolver()
export class ApiKeyResolver {
  @Authorized('keys:admin')
  @Query(() => [ApiKeyType], {
    description: 'Keys of the account, newest first, revoked ones too.',
  })
  async apiKeys(@Ctx() context: ApiContext): Promise<ApiKeyType[]> {
    const keys = await context.deps.apiKeys.list(callerOf(context).tenantId);
    return keys.map((key) => new ApiKeyType(key));
  }

  @Authorized('keys:admin')
  @Mutation(() => ApiKeyCreatePayload, { description: 'Makes a key. Its secret is shown once.' })
  async apiKeyCreate(
    @Arg('input', () => ApiKeyCreateInput, { description: 'What is asked.' })
    input: ApiKeyCreateInput,
    @Ctx() context: ApiContext,
  ): Promise<ApiKeyCreatePayload> {
    const caller = callerOf(context);
    const now = context.deps.context.clock.now();
    const refusal = judgeKey(input, caller.scopes, now);
    if (refusal !== null) return { apiKey: null, token: null, userErrors: [refusal] };
    const { key, token } = await context.deps.apiKeys.issue({
      tenantId: caller.tenantId,
      name: input.name,
      scopes: API_SCOPES.filter((scope) => input.scopes.includes(scope)),
      expiresAt: input.expiresAt ?? null,
      now,
    });
    return { apiKey: new ApiKeyType(key), token, userErrors: [] };
  }

  @Authorized('keys:admin')
  @Mutation(() => ApiKeyRevokePayload, {
    description:
      'Ends a key at once; open subscriptions of it are closed within seconds. A repeat answers the same.',
  })
  async apiKeyRevoke(
    @Arg('input', () => ApiKeyRevokeInput, { description: 'What is asked.' })
    input: ApiKeyRevokeInput,
    @Ctx() context: ApiContext,
  ): Promise<ApiKeyRevokePayload> {
    const { apiKeys, context: flow } = context.deps;
    const key = await apiKeys.revoke(
      callerOf(context).tenantId,
      toUuid('apiKey', input.apiKeyId),
      flow.clock.now(),
    );
    return key === null
      ? { apiKey: null, userErrors: [keyError.from(KEY_NOT_FOUND)] }
      : { apiKey: new ApiKeyType(key), userErrors: [] };
  }
}

const KEY_NOT_FOUND = {
  code: 'API_KEY_NOT_FOUND',
  message: 'There is no such key.',
  field: 'apiKeyId',
} as const;

/** A key can make others, but none that may do more than itself. */
const judgeKey = (
  input: ApiKeyCreateInput,
  held: readonly ApiScope[],
  now: Date,
): KeyError | null => {
  const unknown = input.scopes.find((each) => !API_SCOPES.some((scope) => scope === each));
  if (unknown !== undefined) {
    const message = `There is no scope ${unknown}; choose of ${API_SCOPES.join(', ')}.`;
    return keyError.from({ code: 'SCOPE_UNKNOWN', message, field: 'scopes' });
  }
  const foreign = input.scopes.find((each) => !held.some((scope) => scope === each));
  if (foreign !== undefined) {
    const message = `This key does not have the scope ${foreign} and cannot give it.`;
    return keyError.from({ code: 'SCOPE_NOT_GRANTED', message, field: 'scopes' });
  }
  return input.expiresAt != null && input.expiresAt <= now
    ? keyError.from({
        code: 'EXPIRY_IN_PAST',
        message: 'Choose a time to come.',
        field: 'expiresAt',
      })
    : null;
};
