import { z } from 'zod';
import type {
  JobObservation,
  JobStatus,
  ProviderFailure,
} from '../../../domain/provider/vocabulary';
import type { SubmitRequest } from '../../../ports/provider-gateway';

/** The sandbox provider's own form of a job, as far as it is read here. */
export const jobSchema = z.object({
  id: z.string().min(1),
  status: z.string(),
  progress: z.number().nullish(),
  created_at: z.string(),
  updated_at: z.string().nullish(),
  reference: z.string().nullish(),
  callback_url: z.string().nullish(),
  error: z.object({ code: z.string() }).nullish(),
  cost: z.object({ amount: z.string().regex(/^\d+(\.\d+)?$/), currency: z.string() }).nullish(),
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

export const callbackSchema = z.object({ data: jobSchema });

export const errorSchema = z.object({
  error: z.object({ code: z.string() }),
  cost: jobSchema.shape.cost,
  status: z.string().nullish(),
});

export const acceptedSchema = z.object({ id: z.string().min(1) });
export const cancelSchema = z.object({ status: z.string() });

const STATUSES: Readonly<Record<string, JobStatus>> = {
  queued: 'QUEUED',
  processing: 'RUNNING',
  succeeded: 'SUCCEEDED',
  failed: 'FAILED',
  canceled: 'CANCELED',
  cancelled: 'CANCELED',
};

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
  const status = STATUSES[job.status] ?? 'UNRECOGNIZED';
  // The provider counts a filtered job as succeeded; there is nothing to have, so here it failed.
  const isFiltered = status === 'SUCCEEDED' && job.filtered === true;
  return {
    jobId: job.id,
    status: isFiltered ? 'FAILED' : status,
    rawStatus: job.status,
    progress: job.progress ?? null,
    providerUpdatedAt: readDate(job.updated_at),
    failure: failureOf(job, status, isFiltered),
    outputs: (job.outputs ?? []).map((output) => ({
      index: output.index,
      url: output.url,
      expiresAt: readDate(output.expires_at),
    })),
    charge: job.cost ?? null,
    echoedRequestKey: job.reference ?? null,
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

/** Parses the raw bytes of a JSON body; undefined when they are none. A byte order mark is allowed. */
export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8').replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}

function readDate(text: string | null | undefined): Date | null {
  const date = new Date(text ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? null : date;
}
