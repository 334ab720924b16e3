import { z } from 'zod';
import { isBookableCharge } from '../../../domain/provider/charge';
import type {
  JobObservation,
  JobStatus,
  ProviderFailure,
} from '../../../domain/provider/vocabulary';
import type { SubmitRequest } from '../../../ports/provider-gateway';
import { cleanValue, cutText } from '../http/clean-text';

const WORD_CHARACTERS_MAX = 100;
/** Ids and keys are looked up by an index, which refuses rows of more than some 2,700 bytes. */
const ID_CHARACTERS_MAX = 255;

const wordSchema = z.string().transform((text) => cutText(text, WORD_CHARACTERS_MAX));
const idSchema = z.string().min(1).max(ID_CHARACTERS_MAX);
const chargeSchema = z
  .object({ amount: z.string(), currency: z.string() })
  .refine(isBookableCharge, 'not a charge that can be booked');

/** The sandbox provider's own form of a job, as far as it is read here. A charge that makes no sense is none. */
export const jobSchema = z.object({
  id: idSchema,
  status: wordSchema,
  progress: z.number().nullish(),
  created_at: z.string(),
  updated_at: z.string().nullish(),
  reference: z.string().nullish(),
  callback_url: z.string().nullish(),
  error: z.object({ code: wordSchema }).nullish(),
  cost: chargeSchema.nullish().catch(null),
  filtered: z.boolean().nullish(),
  outputs: z
    .array(z.object({ index: z.number(), url: z.string(), expires_at: z.string().nullish() }))
    .nullish(),
});

export type WireJob = z.output<typeof jobSchema>;

export const listSchema = z.object({
  data: z.array(jobSchema),
  has_more: z.boolean(),
  last_id: z.string().nullable(),
});

/** Unlike an answer to a question of ours, a callback can be refused, and is sent again; so its charge must make sense. */
export const callbackSchema = z.object({
  data: jobSchema.extend({ cost: chargeSchema.nullish() }),
});

export const errorSchema = z.object({
  error: z.object({ code: wordSchema }),
  cost: jobSchema.shape.cost,
  status: z.string().nullish(),
});

export const acceptedSchema = z.object({ id: idSchema });
export const cancelSchema = z.object({ status: z.string() });

const STATUSES: ReadonlyMap<string, JobStatus> = new Map([
  ['queued', 'QUEUED'],
  ['processing', 'RUNNING'],
  ['succeeded', 'SUCCEEDED'],
  ['failed', 'FAILED'],
  ['canceled', 'CANCELED'],
  ['cancelled', 'CANCELED'],
]);

export function encodeSubmit(request: SubmitRequest): string {
  return JSON.stringify({
    model: request.model,
    prompt: request.prompt,
    negative_prompt: request.negativePrompt,
    seed: request.seed,
    aspect_ratio: request.aspectRatio,
    resolution: request.resolution,
    duration_ms: request.durationMs,
    audio: request.withAudio,
    image_url: request.imageUrl,
    callback_url: request.callbackUrl,
    reference: request.requestKey,
    options: request.options,
  });
}

export function observeJob(job: WireJob): JobObservation {
  const status = STATUSES.get(job.status) ?? 'UNRECOGNIZED';
  // The provider counts a filtered job as succeeded; there is nothing to have, so here it failed.
  const isFiltered = status === 'SUCCEEDED' && job.filtered === true;
  return {
    jobId: job.id,
    status: isFiltered ? 'FAILED' : status,
    rawStatus: job.status,
    progress: readProgress(job.progress),
    providerUpdatedAt: readDate(job.updated_at),
    failure: failureOf(job, status, isFiltered),
    outputs: (job.outputs ?? []).map((output) => ({
      index: output.index,
      url: output.url,
      expiresAt: readDate(output.expires_at),
    })),
    charge: job.cost ?? null,
    echoedRequestKey: readReference(job.reference),
  };
}

function failureOf(
  job: WireJob,
  status: JobStatus,
  isFiltered: boolean,
): JobObservation['failure'] {
  if (isFiltered) return { kind: 'POLICY_REJECTED', code: 'filtered' };
  if (status === 'SUCCEEDED' && (job.outputs ?? []).length === 0) {
    return { kind: 'NO_OUTPUT', code: 'no_output' };
  }
  if (status !== 'FAILED') return null;
  const code = job.error?.code ?? 'unknown';
  return { kind: failureKindOf(code), code };
}

/** What the provider's error codes on a failed job mean to us; one it never told us of is its own fault. */
function failureKindOf(code: string): ProviderFailure {
  switch (code) {
    case 'content_policy':
      return 'POLICY_REJECTED';
    case 'invalid_request':
    case 'invalid_image':
      return 'INPUT_REJECTED';
    case 'overloaded':
      return 'PROVIDER_UNAVAILABLE';
    default:
      return 'PROVIDER_INTERNAL';
  }
}

/**
 * Parses the raw bytes of a JSON body; undefined when they are none. A byte order mark is allowed. What JSON can say in
 * `\u` escapes and the database cannot hold is cleaned away here, for every kind of answer.
 */
export function parseJson(body: Buffer): unknown {
  try {
    return cleanValue(JSON.parse(body.toString('utf8').replace(/^\uFEFF/, '')));
  } catch {
    return undefined;
  }
}

function readProgress(progress: number | null | undefined): number | null {
  return progress === null || progress === undefined ? null : Math.min(Math.max(progress, 0), 100);
}

/** Our own keys are short; a longer one is nobody's. */
function readReference(reference: string | null | undefined): string | null {
  return reference && reference.length <= ID_CHARACTERS_MAX ? reference : null;
}

const YEAR_FIRST = 1970;
const YEAR_LAST = 9999;

/** Null for what is no date, or one that no clock shows: the database's calendar is shorter than that of JavaScript. */
function readDate(text: string | null | undefined): Date | null {
  const date = new Date(text ?? Number.NaN);
  const year = date.getUTCFullYear();
  return year >= YEAR_FIRST && year <= YEAR_LAST ? date : null;
}
