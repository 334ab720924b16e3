import type { Asset, AssetKind, AssetStatus } from '../../domain/output/asset';
import type { UploadMethod } from '../../domain/output/upload-rules';

export type NewAsset = Pick<
  Asset,
  | 'id'
  | 'tenantId'
  | 'projectId'
  | 'taskId'
  | 'attemptId'
  | 'parentAssetId'
  | 'kind'
  | 'status'
  | 'fileName'
  | 'objectKey'
  | 'quarantineKey'
  | 'entryName'
  | 'sizeBytes'
  | 'sha256'
  | 'declaredMime'
  | 'detectedMime'
  | 'pipelineVersion'
  | 'businessKey'
>;

export type AssetPatch = Partial<
  Pick<
    Asset,
    | 'objectKey'
    | 'quarantineKey'
    | 'entryName'
    | 'sizeBytes'
    | 'sha256'
    | 'detectedMime'
    | 'durationMs'
    | 'width'
    | 'height'
    | 'frameRateNum'
    | 'frameRateDen'
    | 'facts'
    | 'rejectionCode'
    | 'rejectionDetail'
    | 'deletedAt'
  >
>;

export interface UploadSession {
  readonly id: string;
  readonly tenantId: string;
  readonly assetId: string;
  readonly status: 'OPEN' | 'COMPLETED' | 'EXPIRED' | 'ABORTED';
  readonly quarantineKey: string;
  readonly fileName: string;
  readonly declaredMime: string;
  readonly declaredSizeBytes: bigint;
  readonly declaredSha256: string;
  readonly method: UploadMethod;
  /** Of each part but the last; null for an upload in one piece. */
  readonly partSizeBytes: bigint | null;
  /** By what name the store knows an upload in parts; null before it was asked. */
  readonly storeUploadId: string | null;
  readonly expiresAt: Date;
  readonly completedAt: Date | null;
}

export interface AssetStore {
  /** `EXISTS` when the business key is taken: the same output was recorded before. */
  insert(asset: NewAsset, now: Date): Promise<'CREATED' | 'EXISTS'>;
  read(assetId: string): Promise<Asset | null>;
  readMany(assetIds: readonly string[]): Promise<Asset[]>;
  lock(assetId: string): Promise<Asset | null>;
  findByBusinessKey(businessKey: string): Promise<Asset | null>;
  listOfTask(taskId: string): Promise<Asset[]>;
  /** Guarded by the version read; throws `StaleWriteError` when the row moved meanwhile. */
  patch(asset: Asset, to: AssetStatus, patch: AssetPatch, now: Date): Promise<Asset>;
  listByKind(parentAssetId: string, kinds: readonly AssetKind[]): Promise<Asset[]>;
  insertUpload(
    session: Omit<UploadSession, 'status' | 'completedAt' | 'storeUploadId'>,
    now: Date,
  ): Promise<void>;
  readUploadOfAsset(assetId: string): Promise<UploadSession | null>;
  /** False: it has a name already, or is over. */
  nameStoreUpload(sessionId: string, storeUploadId: string): Promise<boolean>;
  lockUploadOfAsset(assetId: string): Promise<UploadSession | null>;
  closeUpload(
    sessionId: string,
    to: 'COMPLETED' | 'EXPIRED' | 'ABORTED',
    now: Date,
  ): Promise<boolean>;
  listExpiredUploads(now: Date, limit: number): Promise<UploadSession[]>;
  /** Assets left in VALIDATING since `before`: the message that asks for their validation may be lost. */
  listStuckValidations(before: Date, limit: number): Promise<Asset[]>;
  /** Rejected assets whose bytes have been in quarantine since `before`. */
  listQuarantined(before: Date, limit: number): Promise<Asset[]>;
}
