import type { FaultPlan } from './faults';
import type { Job } from './job';
import { isFinished } from './job';
import type { JobStore } from './job-store';
import { presentJob } from './presenter';
import type { OutputUrls, PresentedJob } from './presenter';
import type { WebhookSender } from './webhook';

/** Decides which callbacks a job sends, in which order and how often; the faults bend it. */
export class JobCallbacks {
  /** The first try of a job's callback waits for the first try of the one before it. */
  private readonly turns = new Map<string, Promise<void>>();
  /** Callbacks held back to arrive after a newer one. */
  private readonly heldBack = new Map<string, PresentedJob>();

  constructor(
    private readonly store: JobStore,
    private readonly urls: OutputUrls,
    private readonly sender: WebhookSender,
  ) {}

  /** Tells that the job is processing; resolves after the first try. */
  async tellProcessing(job: Job, plan: FaultPlan): Promise<void> {
    if (plan.has('callback_never') || plan.has('callback_only_final')) return;
    const snapshot = presentJob(job, this.urls, { expiredUrls: false });
    if (plan.has('callback_out_of_order')) this.heldBack.set(job.id, snapshot);
    else await this.deliver(job, snapshot, 1);
  }

  /** Tells how the job ended; resolves after the first try of the last callback. */
  async tellEnd(job: Job, plan: FaultPlan): Promise<void> {
    if (plan.has('callback_never')) return;
    const snapshot = presentJob(job, this.urls, { expiredUrls: plan.has('url_expired') });
    const times = plan.has('callback_twice') ? plan.number('times', 2) : 1;
    await this.deliver(job, snapshot, times);
    const older = this.heldBack.get(job.id);
    if (older) {
      this.heldBack.delete(job.id);
      await this.deliver(job, older, 1);
    }
  }

  /** After a restart: the end of a job is told if nobody is known to have heard of it. */
  async resume(job: Job, plan: FaultPlan): Promise<void> {
    if (isFinished(job) && !this.store.isCallbackClosed(webhookIdOf(job.id, job.status))) {
      await this.tellEnd(job, plan);
    }
  }

  private async deliver(job: Job, snapshot: PresentedJob, times: number): Promise<void> {
    const url = job.request.callback_url;
    if (url === null) return;
    const webhookId = webhookIdOf(job.id, snapshot.status);
    const type = `video.${snapshot.status}`;
    const body = JSON.stringify({ type, timestamp: snapshot.updated_at, data: snapshot });
    const turn = (this.turns.get(job.id) ?? Promise.resolve()).then(async () => {
      for (let time = 0; time < times; time += 1) {
        const sending = this.sender.send({ url, webhookId, body });
        void sending.done.then((closed) => {
          if (closed) this.store.closeCallback(job, webhookId);
        });
        await sending.firstTry;
      }
    });
    this.turns.set(job.id, turn);
    await turn;
    if (this.turns.get(job.id) === turn) this.turns.delete(job.id);
  }
}

function webhookIdOf(jobId: string, status: string): string {
  return `msg_${jobId}_${status}`;
}
