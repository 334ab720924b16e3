import { MaxLength } from 'class-validator';
import { Field, ID, InputType, Int } from 'type-graphql';

import type { RequestInput } from '../domain/generation/normalize';
import type { CreateRefusal } from '../domain/generation/refusals';
import { enumType } from './enum-type';
import { toUuid } from './public-id';
import { JsonObjectScalar } from './scalars';
import { userErrorType } from './user-error';

/** Longer texts are no prompts for any model; the model's own limit is told as a refusal. */
const TEXT_CHARS_MAX = 50_000;
const WORD_CHARS_MAX = 255;

export const GenerationErrorCode = enumType<CreateRefusal | 'IDEMPOTENCY_KEY_MISMATCH'>(
  'GenerationErrorCode',
  'Why a generation was not created, or not priced. Nothing was written, nothing was charged, and the key stays free.',
  {
    MODEL_NOT_FOUND: 'There is no such model.',
    MODEL_UNAVAILABLE: 'The model takes no new generations at present.',
    PROMPT_EMPTY: 'The prompt says nothing.',
    PROMPT_TOO_LONG: 'Longer than the model takes.',
    ASPECT_RATIO_UNSUPPORTED: 'Not offered by the model.',
    RESOLUTION_UNSUPPORTED: 'Not offered by the model.',
    DURATION_UNSUPPORTED: 'Not offered by the model.',
    IMAGE_UNSUPPORTED: 'The model takes no reference image.',
    AUDIO_UNSUPPORTED: 'The model makes no sound.',
    SEED_INVALID: 'Negative or too large.',
    OPTIONS_INVALID: 'Too many options.',
    ASSET_NOT_FOUND: 'There is no such asset.',
    ASSET_NOT_READY: 'The asset is still being checked, or was rejected.',
    ASSET_WRONG_KIND: 'The asset is no image.',
    PROJECT_NOT_FOUND: 'There is no such project.',
    INSUFFICIENT_CREDITS: 'The balance does not cover the price.',
    BUDGET_EXCEEDED:
      'The budget of the month does not cover the price; the message says what is left.',
    KEY_SPEND_LIMIT_EXCEEDED:
      'The spend limit of the API key does not cover the price; the message says what is left.',
    MODERATION_REJECTED: 'The content rules do not allow the prompt.',
    IDEMPOTENCY_CONFLICT: 'The key belongs to a generation with other parameters.',
    IDEMPOTENCY_KEY_INVALID: 'Missing, too long, or with characters that are not visible ASCII.',
    IDEMPOTENCY_KEY_MISMATCH: 'The header and the input field name different keys.',
    QUOTE_NOT_FOUND: 'There is no such quote.',
    QUOTE_EXPIRED: 'The quote is over.',
    QUOTE_MISMATCH: 'The quote was made for other parameters.',
    PRICE_ABOVE_MAX: 'The price is above `maxCredits`.',
    QUEUE_FULL: 'Too many generations of the account wait.',
    TENANT_PAUSED: 'The account is paused.',
  },
);

export const generationError = userErrorType(
  'GenerationError',
  GenerationErrorCode,
  'Why a generation was not created, or not priced.',
);
export type GenerationError = ReturnType<typeof generationError.from>;

@InputType({ description: 'What the video shall be. What is left out gets the model’s default.' })
export class GenerationRequestInput {
  @Field(() => String, { description: 'One of `models`.' })
  @MaxLength(WORD_CHARS_MAX)
  model!: string;

  @Field(() => String, { description: 'What the video shall show.' })
  @MaxLength(TEXT_CHARS_MAX)
  prompt!: string;

  @Field(() => String, { nullable: true, description: 'What it shall not show.' })
  @MaxLength(TEXT_CHARS_MAX)
  negativePrompt?: string | null;

  @Field(() => Int, {
    nullable: true,
    description: 'From 0 to 2147483647; chosen from the idempotency key when left out.',
  })
  seed?: number | null;

  @Field(() => String, { nullable: true, description: 'One of the model’s, as 16:9.' })
  @MaxLength(WORD_CHARS_MAX)
  aspectRatio?: string | null;

  @Field(() => String, { nullable: true, description: 'One of the model’s, as 720p.' })
  @MaxLength(WORD_CHARS_MAX)
  resolution?: string | null;

  @Field(() => Int, { nullable: true, description: 'Length in milliseconds.' })
  durationMs?: number | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether it shall have sound.' })
  withAudio?: boolean | null;

  @Field(() => ID, { nullable: true, description: 'A READY image asset to start from.' })
  imageAssetId?: string | null;

  @Field(() => JsonObjectScalar, {
    nullable: true,
    description: 'Options of the provider, passed on as they are.',
  })
  providerOptions?: Record<string, unknown> | null;
}

export const toRequestInput = (input: GenerationRequestInput): RequestInput => ({
  model: input.model,
  prompt: input.prompt,
  negativePrompt: input.negativePrompt ?? null,
  seed: input.seed ?? null,
  aspectRatio: input.aspectRatio ?? null,
  resolution: input.resolution ?? null,
  durationMs: input.durationMs ?? null,
  withAudio: input.withAudio ?? null,
  imageAssetId: input.imageAssetId == null ? null : toUuid('asset', input.imageAssetId),
  providerOptions: input.providerOptions ?? null,
});
