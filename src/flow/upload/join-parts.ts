import { refuse, type Refusal } from '../../domain/generation/refusals';
import { judgeParts } from '../../domain/output/part-plan';
import type { UploadRefusal } from '../../domain/output/upload-rules';
import { crashpoint } from '../../ports/crash-points';
import type { ObjectStore } from '../../ports/object-store';
import type { NamedPart } from '../../ports/part-uploads';
import type { FlowContext } from '../flow-context';
import { findPartsUpload, type UploadAddress } from './find-upload';

const INCOMPLETE = refuse<UploadRefusal>(
  'UPLOAD_INCOMPLETE',
  'The parts are gone; open a new upload.',
  'assetId',
);

/**
 * Puts the parts of an upload together in the store, before anything is written of it: all of them are there, in their sizes,
 * and are those that the client names. Once that is done, a repeat finds the object and needs no parts.
 * @returns null when the object stands
 */
export const joinParts = async (
  context: FlowContext,
  objects: Pick<ObjectStore, 'parts' | 'measure'>,
  address: UploadAddress,
  named: readonly NamedPart[],
): Promise<Refusal<UploadRefusal> | null> => {
  const upload = await findPartsUpload(context, objects, address);
  if (upload.kind === 'REFUSED') return upload;
  const { plan, session, storeUploadId } = upload;
  const { quarantineKey } = session;
  const stored = await objects.parts.list(quarantineKey, storeUploadId);
  if (stored === null) {
    return (await objects.measure(quarantineKey)) === null ? INCOMPLETE : null;
  }
  const judged = judgeParts(plan, named, stored);
  if (judged.kind === 'REFUSED') return judged;
  const outcome = await objects.parts.complete(quarantineKey, storeUploadId, judged.parts);
  crashpoint('upload.after_multipart_complete_before_commit');
  switch (outcome) {
    case 'STORED':
      return null;
    case 'MISMATCH':
      return refuse('PART_ETAG_MISMATCH', 'A part was sent again meanwhile.', 'parts');
    case 'TAKEN':
    case 'GONE':
      return INCOMPLETE;
  }
};
