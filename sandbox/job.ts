import { z } from 'zod';

export const ASPECT_RATIOS = ['16:9', '9:16', '1:1'] as const;
export const RESOLUTIONS = ['480p', '720p', '1080p'] as const;

/** The body of a create, with the defaults filled in. */
export const videoRequestSchema = z.object({
  model: z
    .string()
    .max(100)
    .regex(/sandbox/i, 'unknown model: the models of this provider have "sandbox" in their name'),
  prompt: z.string().min(1).max(4000),
  negative_prompt: z.string().max(4000).nullish().transform(orNull),
  seed: z.number().int().min(0),
  aspect_ratio: z.enum(ASPECT_RATIOS),
  resolution: z.enum(RESOLUTIONS),
  duration_ms: z.number().int().min(500).max(60_000),
  audio: z.boolean(),
  image_url: z
    .url({ protocol: /^https?$/ })
    .max(4096)
    .nullish()
    .transform(orNull),
  callback_url: z
    .url({ protocol: /^https?$/ })
    .max(4096)
    .nullish()
    .transform(orNull),
  reference: z.string().max(200).nullish().transform(orNull),
  options: z
    .record(z.string(), z.unknown())
    .nullish()
    .transform((value) => value ?? {}),
});

export type VideoRequest = z.output<typeof videoRequestSchema>;

export type JobStatus = 'queued' | 'processing' | 'succeeded' | 'failed' | 'canceled';

export interface JobCost {
  /** US dollars as a decimal string with four places. */
  readonly amount: string;
  readonly currency: 'USD';
}

export interface JobOutput {
  /** Absolute path on this machine. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** What is logged of a job; what only matters while the process lives is kept beside it. */
export interface Job {
  readonly id: string;
  readonly request: VideoRequest;
  readonly faults: readonly string[];
  readonly faultParams: Readonly<Record<string, unknown>>;
  readonly createdAt: string;
  status: JobStatus;
  /** 0–100. */
  progress: number;
  updatedAt: string;
  error: { readonly code: string; readonly message: string } | null;
  cost: JobCost | null;
  output: JobOutput | null;
  filtered: boolean;
  cancelRequestedAt: string | null;
}

export type JobPatch = Partial<
  Pick<
    Job,
    | 'status'
    | 'progress'
    | 'updatedAt'
    | 'error'
    | 'cost'
    | 'output'
    | 'filtered'
    | 'cancelRequestedAt'
  >
>;

export function isFinished(job: Job): boolean {
  return job.status !== 'queued' && job.status !== 'processing';
}

function orNull<T>(value: T | null | undefined): T | null {
  return value ?? null;
}
