import { createHash, timingSafeEqual } from 'node:crypto';
import express from 'express';
import type { Express, NextFunction, Request, Response, Router } from 'express';
import { z } from 'zod';
import { createVideo } from './create-video';
import type { CreateParts } from './create-video';
import { ContentServer } from './content';
import { sendError } from './errors';
import { UnknownFaultError } from './faults';
import type { Job } from './job';
import { sendInvoice } from './invoice';
import { planOf } from './jobs';
import { presentJob } from './presenter';
import type { OutputUrls } from './presenter';
import type { WebhookSender } from './webhook';

export interface ServerParts extends CreateParts {
  readonly apiKey: string;
  readonly urls: OutputUrls;
  readonly sender: WebhookSender;
}

export function buildServer(parts: ServerParts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  const content = new ContentServer();
  // A signed URL is its own authorisation: it stands before the check of the key.
  app.get('/v1/videos/:id/content/:index', (request, response) => {
    serveContent(parts, content, request, response);
  });
  app.use(requireKey(parts.apiKey));
  app.use('/v1', videoRoutes(parts));
  app.use('/_admin', adminRoutes(parts));
  app.use((_request, response) => sendError(response, 404, 'not_found', 'no such route'));
  app.use(answerFailure(parts));
  return app;
}

function requireKey(apiKey: string) {
  const expected = createHash('sha256').update(`Bearer ${apiKey}`).digest();
  return (request: Request, response: Response, next: NextFunction): void => {
    const given = createHash('sha256')
      .update(request.get('authorization') ?? '')
      .digest();
    if (timingSafeEqual(given, expected)) next();
    else sendError(response, 401, 'unauthorized', 'the API key is missing or wrong');
  };
}

function videoRoutes(parts: ServerParts): Router {
  const routes = express.Router();
  routes.post('/videos', express.json({ limit: '256kb' }), (request, response) =>
    createVideo(parts, request, response),
  );
  routes.get('/videos', (request, response) => listVideos(parts, request, response));
  routes.get('/videos/:id', (request, response) => showVideo(parts, request, response));
  routes.post('/videos/:id/cancel', (request, response) => cancelVideo(parts, request, response));
  routes.get('/invoice', (request, response) => sendInvoice(parts.charges, request, response));
  routes.get('/account', (_request, response) => {
    const limits = { concurrency: parts.concurrency, in_use: parts.store.unfinishedCount };
    response.json({ currency: 'USD', limits });
  });
  return routes;
}

function serveContent(
  parts: ServerParts,
  content: ContentServer,
  request: Request,
  response: Response,
): void {
  const { id, index } = request.params as { id: string; index: string };
  const { expires, sig } = request.query;
  const isSigned = typeof expires === 'string' && typeof sig === 'string';
  if (!isSigned || !parts.urls.isValid(id, Number(index), expires, sig)) {
    sendError(response, 403, 'url_expired', 'the URL has expired or was not signed here');
    return;
  }
  const job = parts.store.get(id);
  if (!job || index !== '0') sendError(response, 404, 'not_found', 'no such output');
  else content.serve(job, planOf(job), request, response);
}

const listQuerySchema = z.object({
  after: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  order: z.enum(['asc', 'desc']).default('desc'),
});

function listVideos(parts: ServerParts, request: Request, response: Response): void {
  const query = listQuerySchema.safeParse(request.query);
  if (!query.success) {
    sendError(response, 400, 'invalid_request', 'after, limit (1-100) or order is wrong');
    return;
  }
  const page = parts.store.page(query.data.after ?? null, query.data.limit, query.data.order);
  if (page === null) {
    sendError(response, 400, 'invalid_request', 'after names no job');
    return;
  }
  const data = page.jobs.map((job) => presentJob(job, parts.urls, { expiredUrls: false }));
  response.json({ data, has_more: page.hasMore, last_id: data.at(-1)?.id ?? null });
}

function showVideo(parts: ServerParts, request: Request, response: Response): void {
  const job = findJob(parts, request, response);
  if (!job) return;
  const view = parts.runner.poll(job);
  if (view.kind === 'error') {
    const code = view.status === 500 ? 'internal_error' : 'not_found';
    sendError(response, view.status, code, 'this poll fails as asked');
    return;
  }
  response.json(presentJob(job, parts.urls, view));
}

function cancelVideo(parts: ServerParts, request: Request, response: Response): void {
  const job = findJob(parts, request, response);
  if (!job) return;
  const result = parts.runner.cancel(job);
  if (result === 'finished') {
    const message = `the job is ${job.status}`;
    sendError(response, 409, 'already_completed', message, { status: job.status });
  } else if (result === 'refused') {
    sendError(response, 409, 'cancel_refused', 'this job cannot be canceled');
  } else {
    response.status(202).json({ id: job.id, status: job.status, cancel: result });
  }
}

function findJob(parts: ServerParts, request: Request, response: Response): Job | null {
  const job = parts.store.get((request.params as { id: string }).id);
  if (!job) sendError(response, 404, 'not_found', 'no such job');
  return job;
}

function adminRoutes(parts: ServerParts): Router {
  const routes = express.Router();
  routes.get('/jobs', (_request, response) => void response.json({ data: parts.store.all() }));
  routes.get('/charges', (_request, response) => void response.json({ data: parts.charges.all() }));
  routes.get('/requests', (_request, response) => void response.json(parts.requests.summary()));
  routes.get('/callbacks', (_request, response) => {
    response.json({ data: parts.sender.records });
  });
  routes.post('/faults', express.json(), (request, response) => {
    const body = z.object({ next: z.array(z.unknown()) }).safeParse(request.body);
    if (!body.success) {
      sendError(response, 400, 'invalid_request', 'the body must be {"next": […]}');
      return;
    }
    parts.faultQueue.push(body.data.next);
    response.json({ queued: parts.faultQueue.size });
  });
  return routes;
}

function answerFailure(parts: ServerParts) {
  return (error: unknown, request: Request, response: Response, next: NextFunction): void => {
    if (response.headersSent) {
      next(error);
      return;
    }
    const status = (error as { status?: number }).status ?? 500;
    const isCallersFault = error instanceof UnknownFaultError || (status >= 400 && status < 500);
    // A create whose body could not be read reached us all the same.
    if (isCallersFault && request.method === 'POST' && request.path === '/v1/videos') {
      parts.requests.record(null);
    }
    if (isCallersFault) {
      const message = error instanceof Error ? error.message : 'the request cannot be read';
      sendError(response, status === 413 ? 413 : 400, 'invalid_request', message);
      return;
    }
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    sendError(response, 500, 'internal_error', 'the sandbox failed; its log says why');
  };
}
