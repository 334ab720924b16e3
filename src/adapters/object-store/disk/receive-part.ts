import type { Request, Response } from 'express';
import { crashpoint } from '../../../ports/crash-points';
import type { DiskObjectStore } from './disk-object-store';
import { RequestRefusedError } from '../request-refusal';
import type { Grant } from '../url-signature';
import { assertSignedLength } from './receive-object';

/** Takes the body of a signed PUT of one part: exactly the length that was signed. */
export async function receivePart(
  store: DiskObjectStore,
  grant: Extract<Grant, { method: 'PUT_PART' }>,
  request: Request,
  response: Response,
): Promise<void> {
  assertSignedLength(grant, request);
  const etag = await store.parts.write(grant, request);
  if (etag === null) {
    throw new RequestRefusedError(404, 'NoSuchUpload', 'the upload is over, or never was');
  }
  crashpoint('upload.after_part_before_answer');
  response.set('ETag', etag).status(200).end();
}
