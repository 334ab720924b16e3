import type { Request, Response } from 'express';
import type { ChargeBook } from './billing';
import { costOf, priceOf } from './billing';
import type { JobCallbacks } from './callbacks';
import type { FaultPlan, FaultQueue } from './faults';
import { UnknownFaultError } from './faults';
import type { Job, VideoRequest } from './job';
import { videoRequestSchema } from './job';
import type { JobStore } from './job-store';
import type { JobRunner } from './jobs';
import type { CreateRequestLog } from './request-log';
import { sendError } from './errors';

export interface CreateParts {
  readonly store: JobStore;
  readonly runner: JobRunner;
  readonly callbacks: JobCallbacks;
  readonly charges: ChargeBook;
  readonly requests: CreateRequestLog;
  readonly faultQueue: FaultQueue;
  readonly concurrency: number;
}

/** Prompts that hold one of these are refused, as a provider's content policy refuses. */
const REFUSED_PHRASE = 'sandbox-policy-refused';

const REJECT_CODES: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  402: 'insufficient_funds',
  403: 'forbidden',
  422: 'content_policy',
  429: 'rate_limited',
  500: 'internal_error',
  503: 'overloaded',
};

/** `POST /v1/videos`. There is no idempotency key: two equal requests make two jobs. */
export async function createVideo(
  parts: CreateParts,
  request: Request,
  response: Response,
): Promise<void> {
  parts.requests.record(referenceOf(request.body));
  const parsed = videoRequestSchema.safeParse(request.body);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const message = `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`;
    sendError(response, 400, 'invalid_request', message);
    return;
  }
  const plan = planFor(parts, parsed.data, response);
  if (plan === null || refuse(parts, parsed.data, plan, response)) return;
  if (plan.has('not_created_lost')) {
    dropConnection(request);
    return;
  }
  if (plan.has('slow_create')) await delay(plan.number('slow_ms', 5000));
  const job = parts.runner.create(parsed.data, plan);
  if (plan.has('callback_before_answer')) await tellBeforeAnswer(parts, job, plan);
  if (plan.has('slow')) {
    parts.runner.start(job);
    await delay(plan.number('slow_ms', 5000));
    answer(job, plan, request, response);
    return;
  }
  // The job begins when the answer is out or lost, so its callback does not overtake the answer.
  if (response.closed) parts.runner.start(job);
  else response.once('close', () => parts.runner.start(job));
  answer(job, plan, request, response);
}

function planFor(parts: CreateParts, body: VideoRequest, response: Response): FaultPlan | null {
  try {
    return parts.faultQueue.planFor(body.options);
  } catch (error) {
    if (!(error instanceof UnknownFaultError)) throw error;
    sendError(response, 400, 'invalid_request', error.message);
    return null;
  }
}

/** Answers a refusal and says so, or does nothing. */
function refuse(
  parts: CreateParts,
  body: VideoRequest,
  plan: FaultPlan,
  response: Response,
): boolean {
  if (plan.has('reject_422_charged')) {
    const cost = costOf(priceOf(body));
    parts.charges.chargeRefusal(body.reference, cost);
    sendError(response, 422, 'content_policy', 'refused by policy, and charged', { cost });
    return true;
  }
  const status = plan.rejectStatus;
  if (status !== null) {
    if (status === 429 || status === 503)
      response.set('retry-after', plan.text('retry_after', '2'));
    sendError(response, status, REJECT_CODES[status] ?? 'rejected', 'refused as asked');
    return true;
  }
  if (body.prompt.includes(REFUSED_PHRASE)) {
    sendError(response, 422, 'content_policy', 'the prompt is against the content policy');
    return true;
  }
  if (parts.store.unfinishedCount >= parts.concurrency) {
    response.set('retry-after', '2');
    sendError(response, 429, 'concurrency_limit', `${parts.concurrency} jobs are under way`);
    return true;
  }
  return false;
}

function answer(job: Job, plan: FaultPlan, request: Request, response: Response): void {
  const body = { id: job.id, status: 'queued', created_at: job.createdAt };
  if (plan.has('answer_lost')) dropConnection(request);
  else if (plan.has('answer_cut')) cutAnswer(JSON.stringify(body), response);
  else if (plan.has('answer_502'))
    response.status(502).type('text/html').send('<h1>Bad gateway</h1>');
  else if (plan.has('answer_504')) response.status(504).type('text/html').send('<h1>Time-out</h1>');
  else if (plan.has('answer_no_id')) response.status(202).json({ status: 'queued' });
  else response.status(202).json(body);
}

/** A reset, not an orderly close: the client cannot take it for the end of an answer. */
function dropConnection(request: Request): void {
  request.socket.resetAndDestroy();
}

function cutAnswer(body: string, response: Response): void {
  response.status(202).set({
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  });
  response.write(body.slice(0, Math.floor(body.length / 2)), () => response.destroy());
}

/** The callback is on its way, and answered, before the client knows the id of the job. */
async function tellBeforeAnswer(parts: CreateParts, job: Job, plan: FaultPlan): Promise<void> {
  parts.store.change(job, {
    status: 'processing',
    updatedAt: new Date(Date.parse(job.createdAt) + 1).toISOString(),
  });
  await parts.callbacks.tellProcessing(job, plan);
}

function referenceOf(body: unknown): string | null {
  const reference = (body as { reference?: unknown } | null | undefined)?.reference;
  return typeof reference === 'string' ? reference : null;
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
