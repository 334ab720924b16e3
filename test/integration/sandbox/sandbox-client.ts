import { randomUUID } from 'node:crypto';
import { eventually } from '../../support/eventually';
import type { SandboxProcess } from '../../support/sandbox-process';

/** A job as the sandbox's public API shows it. */
export interface ShownJob {
  readonly id: string;
  readonly status: string;
  readonly progress: number;
  readonly updated_at: string;
  readonly reference: string | null;
  readonly callback_url: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly cost: { readonly amount: string; readonly currency: string } | null;
  readonly filtered: boolean;
  readonly outputs: readonly { readonly url: string; readonly expires_at: string }[];
}

export type CreateBody = Readonly<Record<string, unknown>>;

/** Calls the sandbox as an outsider would, with nothing of the product in between. */
export class SandboxClient {
  constructor(private readonly sandbox: SandboxProcess) {}

  body(overrides: CreateBody = {}): CreateBody & { readonly reference: string } {
    return {
      model: 'sandbox-video-1',
      prompt: 'a red kite over the sea',
      seed: 7,
      aspect_ratio: '16:9',
      resolution: '480p',
      duration_ms: 500,
      audio: true,
      reference: `ref-${randomUUID()}`,
      ...overrides,
    };
  }

  call(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(this.sandbox.url + path, {
      ...init,
      headers: {
        authorization: `Bearer ${this.sandbox.apiKey}`,
        'content-type': 'application/json',
        ...init.headers,
      },
    });
  }

  post(body: unknown): Promise<Response> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return this.call('/v1/videos', { method: 'POST', body: text });
  }

  /** Creates a job that the provider accepts, and gives its id. */
  async create(overrides: CreateBody = {}): Promise<string> {
    const answer = await this.post(this.body(overrides));
    if (answer.status !== 202) throw new Error(`${answer.status}: ${await answer.text()}`);
    return ((await answer.json()) as { id: string }).id;
  }

  async show(id: string): Promise<ShownJob> {
    return (await (await this.call(`/v1/videos/${id}`)).json()) as ShownJob;
  }

  reaches(id: string, status: string): Promise<ShownJob> {
    return eventually(
      `${id} is ${status}`,
      async () => {
        const job = await this.show(id);
        return job.status === status ? job : null;
      },
      60_000,
    );
  }

  async cancel(id: string): Promise<{ readonly status: number; readonly body: unknown }> {
    const answer = await this.call(`/v1/videos/${id}/cancel`, { method: 'POST' });
    return { status: answer.status, body: await answer.json() };
  }
}
