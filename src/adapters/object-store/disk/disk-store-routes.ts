import { Router, type NextFunction, type Request, type Response } from 'express';
import type { DiskObjectStore } from './disk-object-store';
import { allowBrowsers } from '../allow-browsers';
import { RequestRefusedError, toRefusal } from '../request-refusal';
import { receiveObject } from './receive-object';
import { receivePart } from './receive-part';
import { sendObject } from './send-object';
import { parseGet, parsePart, parsePrefixToken, parsePut } from '../signed-urls';

/**
 * Serves the signed URLs of the disk store; mounted where `publicBaseUrl` points. Nothing but the
 * signature authorises: there are no cookies here, so any web origin may read and write with a URL.
 * Refusals are JSON `{code, message}` with the status that S3 would answer.
 */
export function createDiskStoreRoutes(store: DiskObjectStore): Router {
  const router = Router();
  router.use(setCommonHeaders);
  router.use(
    '/o',
    answer((request, response) => serveObject(store, request, response)),
  );
  router.use(
    '/p',
    answer((request, response) => servePrefix(store, request, response)),
  );
  router.use((_request, response) => {
    refuse(response, new RequestRefusedError(404, 'NoSuchKey', 'there is nothing here'));
  });
  return router;
}

async function serveObject(
  store: DiskObjectStore,
  request: Request,
  response: Response,
): Promise<void> {
  const { key, query } = splitUrl(request.url);
  const { signingKey } = store.options;
  if (request.method === 'PUT' && query.has('upload')) {
    const grant = parsePart(signingKey, key, query);
    if (!grant) throw badSignature();
    assertNotExpired(store, grant.expiresAtMs);
    await receivePart(store, grant, request, response);
    return;
  }
  if (request.method === 'PUT') {
    const grant = parsePut(signingKey, key, query);
    if (!grant) throw badSignature();
    assertNotExpired(store, grant.expiresAtMs);
    await receiveObject(store, grant, request, response);
    return;
  }
  assertReading(request.method);
  const grant = parseGet(signingKey, key, query);
  if (!grant) throw badSignature();
  const lifeMs = assertNotExpired(store, grant.expiresAtMs);
  await sendObject(store, { key, lifeMs, downloadName: grant.downloadName }, request, response);
}

async function servePrefix(
  store: DiskObjectStore,
  request: Request,
  response: Response,
): Promise<void> {
  assertReading(request.method);
  const { key: path } = splitUrl(request.url);
  const border = path.indexOf('/');
  const grant = parsePrefixToken(store.options.signingKey, path.slice(0, Math.max(0, border)));
  if (!grant) throw badSignature();
  const lifeMs = assertNotExpired(store, grant.expiresAtMs);
  const key = grant.prefix + path.slice(border + 1);
  await sendObject(store, { key, lifeMs, downloadName: null }, request, response);
}

/** Split by hand: a URL parser would resolve `..` before the key rule has seen it. */
function splitUrl(url: string): { key: string; query: URLSearchParams } {
  const [path = '', query = ''] = url.split('?', 2);
  return { key: path.slice(1), query: new URLSearchParams(query) };
}

function assertNotExpired(store: DiskObjectStore, expiresAtMs: number): number {
  const lifeMs = expiresAtMs - store.options.clock.now().getTime();
  if (lifeMs > 0) return lifeMs;
  throw new RequestRefusedError(403, 'AccessDenied', 'the URL has expired');
}

function assertReading(method: string): void {
  if (method === 'GET' || method === 'HEAD') return;
  throw new RequestRefusedError(405, 'MethodNotAllowed', `${method} is not served here`);
}

function badSignature(): RequestRefusedError {
  const message = 'the URL was not signed by this store, or was altered';
  return new RequestRefusedError(403, 'SignatureDoesNotMatch', message);
}

/** Objects come from strangers: no script of theirs may run in the origin of the product. */
const setCommonHeaders = allowBrowsers({
  methods: 'GET, HEAD, PUT, OPTIONS',
  headers: 'Content-Type, Range, If-Range, If-None-Match',
  // Opened by itself, a browser shows media in a page of its own: that may play, and nothing else may run.
  policy: "default-src 'none'; media-src 'self'; img-src 'self'; style-src 'unsafe-inline'",
});

function answer(
  serve: (request: Request, response: Response) => Promise<void>,
): (request: Request, response: Response, next: NextFunction) => void {
  return (request, response, next) => {
    serve(request, response).catch((error: unknown) => {
      const refusal = toRefusal(error);
      // Half an object cannot be taken back: the cut connection tells the client.
      if (refusal === null) next(error);
      else if (response.headersSent || request.socket.destroyed) response.destroy();
      else refuse(response, refusal);
    });
  };
}

function refuse(response: Response, refusal: RequestRefusedError): void {
  const { status, code, message } = refusal;
  response.set('Cache-Control', 'no-store');
  if (status === 503) response.set('Retry-After', '1');
  // The rest of a refused upload is not read; small ones are, so that the client sees the answer.
  if (Number(response.req.headers['content-length'] ?? 0) > UNREAD_BYTES_MAX) {
    response.set('Connection', 'close');
  } else {
    response.req.resume();
  }
  response.status(status).json({ code, message });
}

const UNREAD_BYTES_MAX = 1_048_576;
