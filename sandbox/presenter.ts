import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Job } from './job';

/** Signs and checks the short-lived URLs under which outputs are handed out. */
export class OutputUrls {
  private readonly key: Buffer;
  private origin = '';

  constructor(
    apiKey: string,
    private readonly ttlMs: number,
  ) {
    // Derived from the key so that URLs stay good over a restart without one more secret on disk.
    this.key = createHmac('sha256', apiKey).update('output urls').digest();
  }

  /** Called once when the server listens; before that no URL can be made. */
  setOrigin(origin: string): void {
    this.origin = origin;
  }

  /** An expired URL is signed as well: what fails is its time, as with a real provider. */
  sign(jobId: string, index: number, expired: boolean): { url: string; expires_at: string } {
    const expires = Date.now() + (expired ? -1000 : this.ttlMs);
    const query = new URLSearchParams({
      expires: String(expires),
      sig: this.signature(jobId, index, expires),
    });
    return {
      url: `${this.origin}/v1/videos/${jobId}/content/${index}?${query.toString()}`,
      expires_at: new Date(expires).toISOString(),
    };
  }

  isValid(jobId: string, index: number, expires: string, signature: string): boolean {
    const given = Buffer.from(signature);
    const expected = Buffer.from(this.signature(jobId, index, Number(expires)));
    const matches = given.length === expected.length && timingSafeEqual(given, expected);
    return matches && Number(expires) > Date.now();
  }

  private signature(jobId: string, index: number, expires: number): string {
    return createHmac('sha256', this.key)
      .update(`${jobId}.${index}.${expires}`)
      .digest('base64url');
  }
}

/** The public form of a job, in answers, lists and callbacks. */
export interface PresentedJob {
  readonly id: string;
  readonly status: string;
  readonly progress: number;
  readonly created_at: string;
  readonly updated_at: string;
  readonly model: string;
  readonly prompt: string;
  readonly reference: string | null;
  readonly callback_url: string | null;
  readonly error: Job['error'];
  readonly cost: Job['cost'];
  readonly filtered: boolean;
  readonly outputs: readonly { index: number; url: string; expires_at: string }[];
}

export function presentJob(
  job: Job,
  urls: OutputUrls,
  overlay: { readonly status?: string; readonly expiredUrls: boolean },
): PresentedJob {
  const showsOutput = job.output !== null && overlay.status === undefined;
  return {
    id: job.id,
    status: overlay.status ?? job.status,
    progress: job.progress,
    created_at: job.createdAt,
    updated_at: job.updatedAt,
    model: job.request.model,
    prompt: job.request.prompt,
    reference: job.request.reference,
    callback_url: job.request.callback_url,
    error: job.error,
    cost: job.cost,
    filtered: job.filtered,
    outputs: showsOutput ? [{ index: 0, ...urls.sign(job.id, 0, overlay.expiredUrls) }] : [],
  };
}
