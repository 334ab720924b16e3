import { assetOfQuarantineKey, QUARANTINE_PREFIX } from '../../domain/output/object-keys';
import type { ObjectStore } from '../../ports/object-store';
import type { FlowContext } from '../flow-context';

/**
 * Bytes in quarantine that no row names any more: their row was written, and whoever should have removed them died. Bytes
 * come after their row, so an upload that is under way is always named.
 * @returns how many were removed
 */
export const sweepStrayUploads = async (
  context: FlowContext,
  objects: Pick<ObjectStore, 'list' | 'delete'>,
): Promise<number> => {
  let swept = 0;
  for await (const { key } of objects.list(QUARANTINE_PREFIX)) {
    const assetId = assetOfQuarantineKey(key);
    if (assetId === null) continue;
    const asset = await context.uow.stores.assets.read(assetId);
    if (asset?.quarantineKey === key) continue;
    await objects.delete(key);
    swept += 1;
  }
  return swept;
};
