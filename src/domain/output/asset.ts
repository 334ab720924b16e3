export const ASSET_KINDS = [
  'INPUT_IMAGE',
  'INPUT_VIDEO',
  'RAW_OUTPUT',
  'PROXY',
  'HLS',
  'THUMBNAIL',
  'STORYBOARD',
  'WAVEFORM',
] as const;
export type AssetKind = (typeof ASSET_KINDS)[number];

export const ASSET_STATUSES = [
  'UPLOADING',
  'VALIDATING',
  'PENDING',
  'PROCESSING',
  'READY',
  'IN_REVIEW',
  'REJECTED',
  'FAILED',
  'DELETED',
] as const;
export type AssetStatus = (typeof ASSET_STATUSES)[number];

export interface Asset {
  readonly id: string;
  readonly tenantId: string;
  readonly projectId: string | null;
  readonly taskId: string | null;
  readonly attemptId: string | null;
  readonly parentAssetId: string | null;
  readonly kind: AssetKind;
  readonly status: AssetStatus;
  readonly version: number;
  readonly fileName: string | null;
  /** Where the consumable object stands (for a folder of files: the prefix, ending in `/`). */
  readonly objectKey: string;
  readonly quarantineKey: string | null;
  /** For a folder of files: the file a player opens first. */
  readonly entryName: string | null;
  readonly sizeBytes: bigint | null;
  readonly sha256: string | null;
  readonly declaredMime: string | null;
  readonly detectedMime: string | null;
  readonly durationMs: number | null;
  readonly width: number | null;
  readonly height: number | null;
  readonly frameRateNum: number | null;
  readonly frameRateDen: number | null;
  readonly facts: Readonly<Record<string, unknown>> | null;
  readonly pipelineVersion: number;
  readonly businessKey: string;
  readonly rejectionCode: string | null;
  readonly rejectionDetail: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly deletedAt: Date | null;
}
