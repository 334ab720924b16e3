import { assetOfQuarantineKey, QUARANTINE_PREFIX } from '../../domain/output/object-keys';
import type { ObjectStore } from '../../ports/object-store';
import type { FlowContext } from '../flow-context';

/**
 * Bytes in quarantine that no row names any more, whole or in parts: their row was written, and whoever should have removed them
 * died. Bytes come after their row, so an upload that is under way is always named. What was completed has no parts left.
 * @returns how many were removed
 */
export const sweepStrayUploads = async (
  context: FlowContext,
  objects: Pick<ObjectStore, 'list' | 'delete' | 'parts'>,
): Promise<number> => {
  const { assets } = context.uow.stores;
  let swept = 0;
  for await (const { key } of objects.list(QUARANTINE_PREFIX)) {
    const assetId = assetOfQuarantineKey(key);
    if (assetId === null || (await assets.read(assetId))?.quarantineKey === key) continue;
    await objects.delete(key);
    swept += 1;
  }
  for await (const { key, uploadId } of objects.parts.listOpen(QUARANTINE_PREFIX)) {
    const assetId = assetOfQuarantineKey(key);
    const session = assetId === null ? null : await assets.readUploadOfAsset(assetId);
    if (session?.status === 'OPEN') continue;
    await objects.parts.abort(key, uploadId);
    swept += 1;
  }
  return swept;
};
