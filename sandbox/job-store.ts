import { join } from 'node:path';
import type { Job, JobPatch } from './job';
import { isFinished } from './job';
import { JsonLinesLog } from './log';

type JobLogEntry =
  | { readonly event: 'created'; readonly job: Job }
  | { readonly event: 'changed'; readonly id: string; readonly patch: JobPatch }
  | { readonly event: 'callback_closed'; readonly id: string; readonly webhook_id: string };

export interface JobPage {
  readonly jobs: readonly Job[];
  readonly hasMore: boolean;
}

/** All jobs ever accepted, in the order of their acceptance; every change is logged before it counts. */
export class JobStore {
  private readonly log: JsonLinesLog<JobLogEntry>;
  private readonly jobs = new Map<string, Job>();
  private readonly order: string[] = [];
  private readonly positions = new Map<string, number>();
  private readonly closedCallbacks = new Set<string>();
  private unfinished = 0;

  constructor(dataDir: string) {
    const { log, entries } = JsonLinesLog.open<JobLogEntry>(join(dataDir, 'jobs.jsonl'));
    this.log = log;
    for (const entry of entries) this.apply(entry);
  }

  get(id: string): Job | null {
    return this.jobs.get(id) ?? null;
  }

  all(): Job[] {
    return [...this.jobs.values()];
  }

  /** Jobs that are queued or running: what the concurrency limit counts. */
  get unfinishedCount(): number {
    return this.unfinished;
  }

  add(job: Job): void {
    this.write({ event: 'created', job });
  }

  change(job: Job, patch: JobPatch): void {
    this.write({ event: 'changed', id: job.id, patch });
  }

  /** A callback that was delivered or given up: it is not sent again after a restart. */
  closeCallback(job: Job, webhookId: string): void {
    if (!this.closedCallbacks.has(webhookId)) {
      this.write({ event: 'callback_closed', id: job.id, webhook_id: webhookId });
    }
  }

  isCallbackClosed(webhookId: string): boolean {
    return this.closedCallbacks.has(webhookId);
  }

  /** `after` is the id of the last row of the page before; null when no such job exists. */
  page(after: string | null, limit: number, order: 'asc' | 'desc'): JobPage | null {
    const step = order === 'asc' ? 1 : -1;
    let position = order === 'asc' ? 0 : this.order.length - 1;
    if (after !== null) {
      const found = this.positions.get(after);
      if (found === undefined) return null;
      position = found + step;
    }
    const jobs: Job[] = [];
    for (; jobs.length < limit; position += step) {
      const job = this.jobs.get(this.order[position] ?? '');
      if (!job) return { jobs, hasMore: false };
      jobs.push(job);
    }
    return { jobs, hasMore: this.order[position] !== undefined };
  }

  close(): void {
    this.log.close();
  }

  private write(entry: JobLogEntry): void {
    this.log.append(entry);
    this.apply(entry);
  }

  private apply(entry: JobLogEntry): void {
    switch (entry.event) {
      case 'created':
        this.positions.set(entry.job.id, this.order.length);
        this.order.push(entry.job.id);
        this.jobs.set(entry.job.id, entry.job);
        this.unfinished += 1;
        return;
      case 'changed': {
        const job = this.jobs.get(entry.id);
        if (!job) return;
        const wasFinished = isFinished(job);
        Object.assign(job, entry.patch);
        if (!wasFinished && isFinished(job)) this.unfinished -= 1;
        return;
      }
      case 'callback_closed':
        this.closedCallbacks.add(entry.webhook_id);
    }
  }
}
