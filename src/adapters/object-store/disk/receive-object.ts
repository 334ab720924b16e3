import type { Request, Response } from 'express';
import { crashpoint } from '../../../ports/crash-points';
import type { DiskObjectStore } from './disk-object-store';
import { RequestRefusedError } from '../request-refusal';
import type { Grant } from '../url-signature';

/** Takes the body of a signed PUT: exactly the length, type and bytes that were signed. */
export async function receiveObject(
  store: DiskObjectStore,
  grant: Extract<Grant, { method: 'PUT' }>,
  request: Request,
  response: Response,
): Promise<void> {
  assertSignedHeaders(grant, request);
  const { key, sizeBytes, sha256, contentType } = grant;
  const result = await store.putStream(key, request, {
    contentType,
    sizeBytesMax: sizeBytes,
    expected: { sizeBytes, sha256 },
  });
  if (result.outcome === 'conflict') {
    throw new RequestRefusedError(409, 'ObjectExists', 'another object stands at this key');
  }
  crashpoint('upload.after_bytes_before_answer');
  response.set('ETag', `"${sha256}"`).status(200).end();
}

function assertSignedHeaders(grant: Extract<Grant, { method: 'PUT' }>, request: Request): void {
  assertSignedLength(grant, request);
  if (request.headers['content-type'] !== grant.contentType) {
    throw new RequestRefusedError(
      403,
      'SignatureDoesNotMatch',
      `Content-Type must be ${grant.contentType}`,
    );
  }
}

/** Before a byte is read. */
export function assertSignedLength(grant: { readonly sizeBytes: number }, request: Request): void {
  const length = request.headers['content-length'];
  if (length === undefined) {
    throw new RequestRefusedError(411, 'MissingContentLength', 'Content-Length is required');
  }
  if (Number(length) > grant.sizeBytes) {
    throw new RequestRefusedError(413, 'EntityTooLarge', 'the body is longer than was signed');
  }
  if (Number(length) !== grant.sizeBytes) {
    throw new RequestRefusedError(400, 'IncompleteBody', 'the body is shorter than was signed');
  }
}
