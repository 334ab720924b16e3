import { text } from 'node:stream/consumers';

import { Router, type NextFunction, type Request, type Response } from 'express';

import { InvalidObjectKeyError } from '../../../ports/object-store';
import { allowBrowsers } from '../allow-browsers';
import { assertObjectKey } from '../object-key';
import { RequestRefusedError, toRefusal } from '../request-refusal';
import { parsePrefixToken } from '../signed-urls';
import { isPlaylist, PLAYLIST_BYTES_MAX, rewritePlaylist } from './rewrite-playlist';
import type { S3ObjectStore } from './s3-object-store';

/**
 * S3 signs single objects and no prefixes, so a shared prefix is served here: playlists, which are small, with a signed URL
 * of the store in the place of each link; everything else as a redirect to such a URL. Media never passes through. Mounted
 * where `prefixBaseUrl` points; nothing but the signature authorises.
 */
export const createSharedPrefixRoutes = (store: S3ObjectStore): Router => {
  const router = Router();
  router.use(
    allowBrowsers({
      methods: 'GET, HEAD, OPTIONS',
      headers: 'Range, If-Range, If-None-Match',
    }),
  );
  router.use('/p', (request, response, next) => {
    serve(store, request, response).catch((error: unknown) => refuse(error, response, next));
  });
  router.use((_request, response) => {
    response.status(404).json({ code: 'NoSuchKey', message: 'there is nothing here' });
  });
  return router;
};

const serve = async (store: S3ObjectStore, request: Request, response: Response): Promise<void> => {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new RequestRefusedError(405, 'MethodNotAllowed', `${request.method} is not served here`);
  }
  // Split by hand: a URL parser would resolve `..` before the key rule has seen it.
  const path = (request.url.split('?', 1)[0] ?? '').slice(1);
  const border = path.indexOf('/');
  const token = path.slice(0, Math.max(0, border));
  const grant = parsePrefixToken(store.options.signingKey, token);
  if (!grant) {
    throw new RequestRefusedError(
      403,
      'SignatureDoesNotMatch',
      'the URL was not signed by this product, or was altered',
    );
  }
  const now = store.options.clock.now();
  const expiresAt = new Date(grant.expiresAtMs);
  if (expiresAt <= now) throw new RequestRefusedError(403, 'AccessDenied', 'the URL has expired');
  const key = grant.prefix + path.slice(border + 1);
  assertObjectKey(key);
  const life = { now, expiresAt };
  response.set(
    'Cache-Control',
    `private, max-age=${Math.floor((expiresAt.getTime() - now.getTime()) / 1000)}`,
  );
  if (isPlaylist(key) && (await sendPlaylist(store, key, grant.prefix, life, response))) return;
  const url = await (request.method === 'HEAD'
    ? store.presignHead(key, life)
    : store.presignGet(key, life));
  response.redirect(307, url);
};

/** False: too large to be one. */
const sendPlaylist = async (
  store: S3ObjectStore,
  key: string,
  prefix: string,
  life: { readonly now: Date; readonly expiresAt: Date },
  response: Response,
): Promise<boolean> => {
  const found = await store.getStream(key);
  if (found === null) throw new RequestRefusedError(404, 'NoSuchKey', 'there is no such object');
  if (found.head.sizeBytes > PLAYLIST_BYTES_MAX) {
    found.body.destroy();
    return false;
  }
  const folder = key.slice(0, key.lastIndexOf('/') + 1);
  const rewritten = await rewritePlaylist(await text(found.body), async (link) => {
    const target = `${folder}${link.split('?', 1)[0] ?? ''}`;
    if (!target.startsWith(prefix)) return null;
    try {
      return await store.presignGet(target, life);
    } catch (error) {
      // Not a key of the product: the link stays, and leads nowhere.
      if (error instanceof InvalidObjectKeyError) return null;
      throw error;
    }
  });
  response.setHeader('Content-Type', found.head.contentType);
  response.status(200).send(Buffer.from(rewritten));
  return true;
};

const refuse = (error: unknown, response: Response, next: NextFunction): void => {
  const refusal = toRefusal(error);
  if (refusal === null || response.headersSent) {
    next(error);
    return;
  }
  response.set('Cache-Control', 'no-store');
  if (refusal.status === 503) response.set('Retry-After', '1');
  response.status(refusal.status).json({ code: refusal.code, message: refusal.message });
};
