import type { CapabilityRefusal } from '../scheduling/routing';

export const CREATE_REFUSALS = [
  'MODEL_NOT_FOUND',
  'MODEL_UNAVAILABLE',
  'PROMPT_EMPTY',
  'PROMPT_TOO_LONG',
  'ASPECT_RATIO_UNSUPPORTED',
  'RESOLUTION_UNSUPPORTED',
  'DURATION_UNSUPPORTED',
  'IMAGE_UNSUPPORTED',
  'AUDIO_UNSUPPORTED',
  'SEED_INVALID',
  'OPTIONS_INVALID',
  'ASSET_NOT_FOUND',
  'ASSET_NOT_READY',
  'ASSET_WRONG_KIND',
  'PROJECT_NOT_FOUND',
  'INSUFFICIENT_CREDITS',
  'BUDGET_EXCEEDED',
  'KEY_SPEND_LIMIT_EXCEEDED',
  'MODERATION_REJECTED',
  'IDEMPOTENCY_CONFLICT',
  'IDEMPOTENCY_KEY_INVALID',
  'QUOTE_NOT_FOUND',
  'QUOTE_EXPIRED',
  'QUOTE_MISMATCH',
  'PRICE_ABOVE_MAX',
  'QUEUE_FULL',
  'TENANT_PAUSED',
] as const;
/** Why a generation was not created: stable, public. A refusal writes nothing, so the key stays free. */
export type CreateRefusal = (typeof CREATE_REFUSALS)[number];

export interface Refusal<Code extends string> {
  readonly kind: 'REFUSED';
  readonly code: Code;
  /** For people; says what to do. */
  readonly message: string;
  /** Path of the input field that is to blame, where there is one. */
  readonly field: string | null;
}

export const refuse = <Code extends string>(
  code: Code,
  message: string,
  field: string | null = null,
): Refusal<Code> => ({ kind: 'REFUSED', code, message, field });

/** Where each capability refusal points, and how it reads. */
export const CAPABILITY_FIELDS = {
  MODEL_UNAVAILABLE: ['model', 'The model takes no new generations at present.'],
  ASPECT_RATIO_UNSUPPORTED: ['aspectRatio', 'The model does not offer this aspect ratio.'],
  RESOLUTION_UNSUPPORTED: ['resolution', 'The model does not offer this resolution.'],
  DURATION_UNSUPPORTED: ['durationMs', 'The model does not offer this duration.'],
  IMAGE_UNSUPPORTED: ['imageAssetId', 'The model takes no reference image.'],
  AUDIO_UNSUPPORTED: ['withAudio', 'The model makes no sound.'],
  PROMPT_TOO_LONG: ['prompt', 'The prompt is longer than the model takes.'],
} as const satisfies Record<CapabilityRefusal, readonly [field: string, message: string]>;
