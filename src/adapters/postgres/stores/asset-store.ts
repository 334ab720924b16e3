import type { Asset } from '../../../domain/output/asset';
import type { AssetStore, UploadSession } from '../../../ports/stores/asset-store';
import { StaleWriteError } from '../../../ports/stores/attempt-store';
import type { Database } from '../database';
import { toRowPatch } from '../json-parameters';
import { run, runForOne } from '../run-statement';

export const createAssetStore = (db: Database): AssetStore => ({
  insert: async (asset, now) => {
    const rows = await run(db, 'insert-asset', { ...asset, now });
    return rows.length > 0 ? 'CREATED' : 'EXISTS';
  },
  read: (assetId) => runForOne<Asset>(db, 'read-asset', { assetId }),
  readMany: async (assetIds) =>
    assetIds.length === 0 ? [] : run<Asset>(db, 'read-assets', { assetIds }),
  lock: (assetId) => runForOne<Asset>(db, 'lock-asset', { assetId }),
  findByBusinessKey: (businessKey) =>
    runForOne<Asset>(db, 'find-asset-by-business-key', { businessKey }),
  listOfTask: (taskId) => run<Asset>(db, 'list-assets-of-task', { taskId }),
  patch: async (asset, to, patch, now) => {
    const patched = await runForOne<Asset>(db, 'patch-asset', {
      assetId: asset.id,
      version: asset.version,
      toStatus: to,
      patch: toRowPatch('patch-asset', patch),
      now,
    });
    if (patched === null) throw new StaleWriteError(`Asset ${asset.id} moved meanwhile`);
    return patched;
  },
  listByKind: (parentAssetId, kinds) =>
    run<Asset>(db, 'list-assets-of-parent', { parentAssetId, kinds }),
  insertUpload: async (session, now) => {
    await run(db, 'insert-upload', { ...session, now });
  },
  readUploadOfAsset: (assetId) => runForOne<UploadSession>(db, 'read-upload-of-asset', { assetId }),
  nameStoreUpload: async (sessionId, storeUploadId) =>
    (await run(db, 'name-store-upload', { sessionId, storeUploadId })).length > 0,
  lockUploadOfAsset: (assetId) => runForOne<UploadSession>(db, 'lock-upload-of-asset', { assetId }),
  closeUpload: async (sessionId, to, now) =>
    (await run(db, 'close-upload', { sessionId, toStatus: to, now })).length > 0,
  listExpiredUploads: (now, limit) =>
    run<UploadSession>(db, 'list-expired-uploads', { now, limit }),
  listStuckValidations: (before, limit) =>
    run<Asset>(db, 'list-stuck-validations', { before, limit }),
  listQuarantined: (before, limit) => run<Asset>(db, 'list-quarantined-assets', { before, limit }),
});
