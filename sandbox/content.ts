import { createReadStream } from 'node:fs';
import type { Request, Response } from 'express';
import type { FaultPlan } from './faults';
import type { Job } from './job';

/** Counts the downloads of each job, for the fault that cuts only the first. */
export class ContentServer {
  private readonly downloads = new Map<string, number>();

  /** Serves the clip of a finished job, whole or by one byte range. */
  serve(job: Job, plan: FaultPlan, request: Request, response: Response): void {
    const output = job.output;
    if (output === null) {
      response.status(404).json({ error: { code: 'not_found', message: 'no such output' } });
      return;
    }
    const etag = `"${output.sha256}"`;
    response.set({
      'accept-ranges': 'bytes',
      'content-type': 'video/mp4',
      etag,
      'cache-control': 'private, no-store',
    });
    const ifRange = request.get('if-range');
    const asked = ifRange === undefined || ifRange === etag ? request.get('range') : undefined;
    const range = readRange(asked, output.sizeBytes);
    if (range === 'unsatisfiable') {
      response.status(416).set('content-range', `bytes */${output.sizeBytes}`).end();
      return;
    }
    const { start, end } = range ?? { start: 0, end: output.sizeBytes - 1 };
    if (range) {
      response.status(206).set('content-range', `bytes ${start}-${end}/${output.sizeBytes}`);
    }
    response.set('content-length', String(end - start + 1));
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    const half = Math.floor(output.sizeBytes / 2);
    if (this.isCut(job, plan) && end >= half) sendThenCut(output.path, start, half, response);
    else sendFile(output.path, start, end, response);
  }

  private isCut(job: Job, plan: FaultPlan): boolean {
    if (plan.has('download_cut_always')) return true;
    if (!plan.has('download_cut')) return false;
    const count = (this.downloads.get(job.id) ?? 0) + 1;
    this.downloads.set(job.id, count);
    return count <= plan.number('times', 1);
  }
}

function sendFile(path: string, start: number, end: number, response: Response): void {
  const stream = createReadStream(path, { start, end });
  stream.once('error', () => response.destroy());
  response.once('close', () => stream.destroy());
  stream.pipe(response);
}

/** Sends up to the middle of the file, then drops the connection. */
function sendThenCut(path: string, start: number, half: number, response: Response): void {
  if (start >= half) {
    response.flushHeaders();
    setImmediate(() => response.destroy());
    return;
  }
  const stream = createReadStream(path, { start, end: half - 1 });
  stream.once('error', () => response.destroy());
  stream.once('end', () => response.write('', () => response.destroy()));
  stream.pipe(response, { end: false });
}

function readRange(
  header: string | undefined,
  sizeBytes: number,
): { readonly start: number; readonly end: number } | 'unsatisfiable' | null {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (!match || (match[1] === '' && match[2] === '')) return null;
  const suffix = match[1] === '';
  const start = suffix ? Math.max(0, sizeBytes - Number(match[2])) : Number(match[1]);
  const end = suffix || match[2] === '' ? sizeBytes - 1 : Math.min(Number(match[2]), sizeBytes - 1);
  return start > end ? 'unsatisfiable' : { start, end };
}
