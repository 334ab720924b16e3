/**
 * Object keys are made here and nowhere else: deterministic, so that a repeated step finds its own
 * earlier work instead of writing a second copy.
 */

/** Raised when a profile's output changes, so that old derivatives are never mistaken for new ones. */
export const PIPELINE_VERSION = 1;

export const QUARANTINE_PREFIX = 'quarantine/';

export const quarantineKey = (tenantId: string, assetId: string): string =>
  `${QUARANTINE_PREFIX}tenants/${tenantId}/assets/${assetId}/source`;

/** The asset whose upload a key is; null for a key that was not made here. */
export const assetOfQuarantineKey = (key: string): string | null =>
  /^quarantine\/tenants\/[^/]+\/assets\/([0-9a-f-]{36})\/source$/.exec(key)?.[1] ?? null;

export const inputKey = (tenantId: string, assetId: string): string =>
  `tenants/${tenantId}/assets/${assetId}/source`;

export const rawOutputKey = (
  tenantId: string,
  taskId: string,
  attemptId: string,
  outputIndex: number,
  rawGeneration: number,
): string =>
  `tenants/${tenantId}/tasks/${taskId}/raw/${attemptId}-${outputIndex}${rawGeneration > 1 ? `-g${rawGeneration}` : ''}`;

/** Ends in `/`; each derived file stands below it under its own name. */
export const derivativePrefix = (
  tenantId: string,
  rawAssetId: string,
  profile: string,
  pipelineVersion: number,
): string => `tenants/${tenantId}/assets/${rawAssetId}/${profile.toLowerCase()}/${pipelineVersion}/`;

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const PRODUCT_KEY = new RegExp(
  `^(?:quarantine/)?tenants/(${UUID})/(?:assets|tasks)/${UUID}/[^/]`,
);

/** Whose object a key names; null: no key that is made here, so the object is somebody else's. */
export const tenantOfKey = (key: string): string | null => PRODUCT_KEY.exec(key)?.[1] ?? null;
