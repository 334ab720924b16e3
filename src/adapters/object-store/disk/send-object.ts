import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import type { ByteRange, ObjectHead } from '../../../ports/object-store';
import { parseRange } from './byte-range';
import type { DiskObjectStore } from './disk-object-store';
import { RequestRefusedError } from '../request-refusal';

export interface SendWhat {
  readonly key: string;
  /** How long the URL lives on; a cache may keep the answer no longer. */
  readonly lifeMs: number;
  readonly downloadName: string | null;
}

/** Answers GET and HEAD: whole, by range, or 304 when the client has it. */
export async function sendObject(
  store: DiskObjectStore,
  what: SendWhat,
  request: Request,
  response: Response,
): Promise<void> {
  const head = await store.head(what.key);
  if (head === null) throw noSuchKey();
  setObjectHeaders(response, head, what);
  if (hasCurrent(request, head)) {
    response.status(304).end();
    return;
  }
  const range = chooseRange(request, head);
  if (range === 'unsatisfiable') {
    response.set('Content-Range', `bytes */${head.sizeBytes}`);
    throw new RequestRefusedError(416, 'InvalidRange', `the object has ${head.sizeBytes} bytes`);
  }
  const whole = range === 'all';
  const lengthBytes = whole ? head.sizeBytes : range.end - range.start + 1;
  if (request.method === 'HEAD') {
    setRangeHeaders(response, head, range).set('Content-Length', String(lengthBytes)).end();
    return;
  }
  const found = await store.getStream(what.key, whole ? undefined : range);
  if (found === null) throw noSuchKey();
  setRangeHeaders(response, head, range).set('Content-Length', String(lengthBytes));
  await pipeline(found.body, response);
}

function setObjectHeaders(response: Response, head: ObjectHead, what: SendWhat): void {
  response.set({
    'Accept-Ranges': 'bytes',
    'Cache-Control': `private, max-age=${Math.floor(what.lifeMs / 1000)}`,
    ETag: `"${head.sha256}"`,
    'Last-Modified': head.modifiedAt.toUTCString(),
  });
  if (what.downloadName !== null) {
    const name = encodeURIComponent(what.downloadName).replace(/['()*]/g, percentEncode);
    response.set('Content-Disposition', `attachment; filename*=UTF-8''${name}`);
  }
}

/** `Content-Type` is set raw: express would add a charset that the object does not have. */
function setRangeHeaders(response: Response, head: ObjectHead, range: ByteRange | 'all'): Response {
  response.setHeader('Content-Type', head.contentType);
  if (range === 'all') return response.status(200);
  response.set('Content-Range', `bytes ${range.start}-${range.end}/${head.sizeBytes}`);
  return response.status(206);
}

function hasCurrent(request: Request, head: ObjectHead): boolean {
  const tags = request.headers['if-none-match']?.split(',').map((tag) => tag.trim()) ?? [];
  return tags.some((tag) => tag === '*' || tag.replace(/^W\//, '') === `"${head.sha256}"`);
}

/** With If-Range of another version the client must get the whole of this one. */
function chooseRange(request: Request, head: ObjectHead): ByteRange | 'all' | 'unsatisfiable' {
  const ifRange = request.headers['if-range'];
  if (ifRange !== undefined && ifRange !== `"${head.sha256}"`) return 'all';
  return parseRange(request.headers.range, head.sizeBytes);
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function noSuchKey(): RequestRefusedError {
  return new RequestRefusedError(404, 'NoSuchKey', 'there is no such object');
}
