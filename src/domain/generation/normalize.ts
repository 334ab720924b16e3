import { refusalOf, type ModelOffer } from '../scheduling/routing';
import { CAPABILITY_FIELDS, refuse, type CreateRefusal, type Refusal } from './refusals';
import type { GenerationRequest } from './task';

/** What a caller may leave out. */
export interface RequestInput {
  readonly model: string;
  readonly prompt: string;
  readonly negativePrompt?: string | null;
  readonly seed?: number | null;
  readonly aspectRatio?: string | null;
  readonly resolution?: string | null;
  readonly durationMs?: number | null;
  readonly withAudio?: boolean | null;
  readonly imageAssetId?: string | null;
  readonly providerOptions?: Readonly<Record<string, unknown>> | null;
}

export const SEED_MAX = 2_147_483_647;
const OPTIONS_CHARS_MAX = 4_000;

/** The request with every default resolved except the seed, which is null until the key is known. */
export type NormalizedRequest = Omit<GenerationRequest, 'seed'> & { readonly seed: number | null };

/** Resolves defaults from the model and judges every field; equal meaning gives equal output. */
export const normalizeRequest = (
  input: RequestInput,
  offer: ModelOffer,
): { readonly kind: 'OK'; readonly request: NormalizedRequest } | Refusal<CreateRefusal> => {
  const prompt = input.prompt.normalize('NFC').trim();
  if (prompt === '') return refuse('PROMPT_EMPTY', 'Write what the video shall show.', 'prompt');
  const negative = input.negativePrompt?.normalize('NFC').trim() ?? '';
  const seed = input.seed ?? null;
  if (seed !== null && (!Number.isInteger(seed) || seed < 0 || seed > SEED_MAX)) {
    return refuse('SEED_INVALID', `The seed is a whole number from 0 to ${SEED_MAX}.`, 'seed');
  }
  const providerOptions = input.providerOptions ?? {};
  if (JSON.stringify(providerOptions).length > OPTIONS_CHARS_MAX) {
    return refuse(
      'OPTIONS_INVALID',
      `Options take at most ${OPTIONS_CHARS_MAX} characters.`,
      'providerOptions',
    );
  }
  const request: NormalizedRequest = {
    model: offer.id,
    prompt,
    negativePrompt: negative === '' ? null : negative,
    seed,
    aspectRatio: input.aspectRatio ?? offer.aspectRatios[0] ?? '16:9',
    resolution: input.resolution ?? offer.resolutions[0] ?? '720p',
    durationMs: input.durationMs ?? offer.durationMsMin,
    withAudio: input.withAudio ?? offer.supportsAudio,
    imageAssetId: input.imageAssetId ?? null,
    providerOptions,
  };
  const tooLong = [...(request.negativePrompt ?? '')].length > offer.promptCharsMax;
  const refusal = tooLong ? 'PROMPT_TOO_LONG' : refusalOf(offer, request);
  if (refusal === null) return { kind: 'OK', request };
  const [field, message] = CAPABILITY_FIELDS[refusal];
  return refuse(refusal, message, tooLong ? 'negativePrompt' : field);
};

/** One spelling per value: keys sorted, no white space. What is hashed. */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value)
      .filter(([, each]) => each !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${canonicalJson(each)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
};
