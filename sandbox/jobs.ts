import { randomBytes } from 'node:crypto';
import type { ChargeBook } from './billing';
import { costOf, priceOf } from './billing';
import type { JobCallbacks } from './callbacks';
import { FaultPlan } from './faults';
import type { Job, JobCost, JobOutput, JobPatch, VideoRequest } from './job';
import { isFinished } from './job';
import type { JobStore } from './job-store';
import { PictureError } from './picture';

/** What a poll shall see. */
export type PollView =
  | {
      readonly kind: 'job';
      readonly job: Job;
      readonly status?: string;
      readonly expiredUrls: boolean;
    }
  | { readonly kind: 'error'; readonly status: 404 | 500 };

export type CancelResult = 'canceled' | 'requested' | 'refused' | 'finished';

export type Renderer = (
  job: Job,
  signal: AbortSignal,
  onProgress: (progress: number) => void,
) => Promise<JobOutput>;

/** Faults under which a job stays processing until something asked from outside ends it. */
const HOLDING_FAULTS = [
  'hang',
  'failed_late',
  'cancel_refused',
  'cancel_slow',
  'cancel_completes',
] as const;

/** The life of every job: queued, processing, and one of the three ends. */
export class JobRunner {
  private readonly queue: Job[] = [];
  private readonly aborts = new Map<string, AbortController>();
  private readonly polls = new Map<string, number>();
  private readonly expiredShown = new Set<string>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private running = 0;
  private stopped = false;

  constructor(
    private readonly store: JobStore,
    private readonly charges: ChargeBook,
    private readonly callbacks: JobCallbacks,
    private readonly render: Renderer,
    private readonly slots: number,
  ) {}

  create(request: VideoRequest, plan: FaultPlan): Job {
    const now = new Date().toISOString();
    const job: Job = {
      id: `vid_${randomBytes(12).toString('hex')}`,
      request,
      faults: plan.names,
      faultParams: plan.params,
      createdAt: now,
      status: 'queued',
      progress: 0,
      updatedAt: now,
      error: null,
      cost: null,
      output: null,
      filtered: false,
      cancelRequestedAt: null,
    };
    this.store.add(job);
    return job;
  }

  /** Lets a created job go on to be processed. */
  start(job: Job): void {
    this.queue.push(job);
    this.fillSlots();
  }

  /** After a restart: unfinished jobs go on, untold ends are told. */
  resume(): void {
    for (const job of this.store.all()) {
      if (isFinished(job)) void this.callbacks.resume(job, planOf(job));
      else if (job.cancelRequestedAt !== null && !planOf(job).has('cancel_completes')) {
        this.endCanceled(job, planOf(job));
      } else this.start(job);
    }
  }

  /** Counts a poll, for the faults that answer by number, and says what it sees. */
  poll(job: Job): PollView {
    const plan = planOf(job);
    const count = (this.polls.get(job.id) ?? 0) + 1;
    this.polls.set(job.id, count);
    if (plan.has('poll_500') && count <= plan.number('times', 3)) {
      return { kind: 'error', status: 500 };
    }
    if (plan.has('poll_404') && count <= plan.number('times', 1)) {
      return { kind: 'error', status: 404 };
    }
    if (plan.has('unknown_status') && count <= plan.number('times', 3)) {
      return { kind: 'job', job, status: 'hyperflux', expiredUrls: false };
    }
    if (plan.has('failed_late') && count >= plan.number('times', 3) && !isFinished(job)) {
      this.fail(job, 'internal_error', 'the generation failed late');
    }
    return { kind: 'job', job, expiredUrls: this.showsExpiredUrls(job, plan) };
  }

  cancel(job: Job): CancelResult {
    if (isFinished(job)) return 'finished';
    const plan = planOf(job);
    if (plan.has('cancel_refused')) {
      if (job.status === 'processing') void this.complete(job, plan);
      return 'refused';
    }
    const now = new Date().toISOString();
    if (job.cancelRequestedAt === null) this.store.change(job, { cancelRequestedAt: now });
    if (plan.has('cancel_completes')) {
      if (job.status === 'processing') void this.complete(job, plan);
      return 'requested';
    }
    if (plan.has('cancel_slow')) {
      this.later(plan.number('cancel_ms', 3000), () => this.endCanceled(job, plan));
      return 'requested';
    }
    const wasQueued = job.status === 'queued';
    if (wasQueued) this.endCanceled(job, plan);
    else this.later(50, () => this.endCanceled(job, plan));
    return wasQueued ? 'canceled' : 'requested';
  }

  /** Ends the renderings under way; their jobs stay unfinished in the log. */
  stop(): void {
    this.stopped = true;
    for (const timer of this.timers) clearTimeout(timer);
    for (const abort of this.aborts.values()) abort.abort();
  }

  private fillSlots(): void {
    while (!this.stopped && this.running < this.slots) {
      const job = this.queue.shift();
      if (!job) return;
      if (isFinished(job)) continue;
      this.running += 1;
      void this.process(job).finally(() => {
        this.running -= 1;
        this.fillSlots();
      });
    }
  }

  private async process(job: Job): Promise<void> {
    const plan = planOf(job);
    if (job.status === 'queued') {
      this.store.change(job, { status: 'processing', progress: 0, updatedAt: newerThan(job) });
      void this.callbacks.tellProcessing(job, plan);
    }
    if (plan.has('failed') || plan.has('failed_charged')) {
      const code = plan.text('error_code', 'internal_error');
      this.fail(job, code, 'the generation failed', plan.has('failed_charged'));
    } else if (plan.has('filtered')) {
      this.end(job, { status: 'succeeded', progress: 100, filtered: true });
    } else if (!this.isHeld(job, plan)) {
      await this.complete(job, plan);
    }
  }

  /** A cancel that came while the job was still queued already decided what the fault waits for. */
  private isHeld(job: Job, plan: FaultPlan): boolean {
    if (plan.has('cancel_completes') && job.cancelRequestedAt !== null) return false;
    return HOLDING_FAULTS.some((fault) => plan.has(fault));
  }

  private async complete(job: Job, plan: FaultPlan): Promise<void> {
    // Two cancels of a held job must not render it twice.
    if (this.aborts.has(job.id)) return;
    const abort = new AbortController();
    this.aborts.set(job.id, abort);
    try {
      const output = await this.render(job, abort.signal, (progress) => {
        job.progress = Math.max(job.progress, progress);
      });
      const price = priceOf(job.request) * (plan.has('overcharge') ? 3 : 1);
      this.end(job, { status: 'succeeded', progress: 100, output }, costOf(price));
    } catch (error) {
      if (abort.signal.aborted) return;
      const code = error instanceof PictureError ? 'invalid_image' : 'internal_error';
      this.fail(job, code, (error as Error).message);
    } finally {
      this.aborts.delete(job.id);
    }
  }

  private fail(job: Job, code: string, message: string, charged = false): void {
    const cost = costOf(charged ? priceOf(job.request) : 0);
    this.end(job, { status: 'failed', error: { code, message } }, cost);
  }

  private endCanceled(job: Job, plan: FaultPlan): void {
    if (isFinished(job)) return;
    const charged = plan.has('cancel_charged') ? Math.ceil(priceOf(job.request) / 2) : 0;
    this.end(job, { status: 'canceled' }, costOf(charged));
    this.aborts.get(job.id)?.abort();
  }

  private end(job: Job, patch: JobPatch, cost: JobCost = costOf(0)): void {
    if (isFinished(job) || this.stopped) return;
    this.charges.chargeJob(job, cost);
    this.store.change(job, { ...patch, cost, updatedAt: newerThan(job) });
    void this.callbacks.tellEnd(job, planOf(job));
  }

  /** A callback with expired URLs counts as the showing; without one the first poll is it. */
  private showsExpiredUrls(job: Job, plan: FaultPlan): boolean {
    if (!plan.has('url_expired') || job.output === null) return false;
    const toldByCallback = !plan.has('callback_never') && job.request.callback_url !== null;
    if (toldByCallback || this.expiredShown.has(job.id)) return false;
    this.expiredShown.add(job.id);
    return true;
  }

  private later(ms: number, action: () => void): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      action();
    }, ms);
    this.timers.add(timer);
  }
}

export function planOf(job: Job): FaultPlan {
  return FaultPlan.fromOptions({ ...job.faultParams, fault: job.faults });
}

/** Strictly later than the last change, so that receivers can order two changes of one millisecond. */
function newerThan(job: Job): string {
  return new Date(Math.max(Date.now(), Date.parse(job.updatedAt) + 1)).toISOString();
}
