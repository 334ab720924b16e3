import { createHash } from 'node:crypto';

import { priceOf } from '../../domain/billing/pricing';
import {
  canonicalJson,
  normalizeRequest,
  SEED_MAX,
  type NormalizedRequest,
  type RequestInput,
} from '../../domain/generation/normalize';
import { refuse, type CreateRefusal, type Refusal } from '../../domain/generation/refusals';
import type { ModelOffer } from '../../domain/scheduling/routing';
import type { Asset } from '../../domain/output/asset';
import type { Stores } from '../../ports/unit-of-work';

export interface Prepared {
  readonly kind: 'OK';
  readonly offer: ModelOffer;
  readonly request: NormalizedRequest;
  readonly requestHash: string;
  readonly priceMicros: bigint;
  readonly image: Asset | null;
}

/** Normalises, checks against the model and the tenant's assets, and prices. Writes nothing. */
export const prepareRequest = async (
  stores: Stores,
  tenantId: string,
  input: RequestInput,
): Promise<Prepared | Refusal<CreateRefusal>> => {
  const offer = await stores.catalog.readModel(input.model);
  if (offer === null) return refuse('MODEL_NOT_FOUND', 'There is no such model.', 'model');
  const normalized = normalizeRequest(input, offer);
  if (normalized.kind === 'REFUSED') return normalized;
  const { request } = normalized;
  const priceMicros = priceOf(offer, request);
  if (priceMicros === null) {
    return refuse(
      'RESOLUTION_UNSUPPORTED',
      'The model has no price for this resolution.',
      'resolution',
    );
  }
  const image = await readImage(stores, tenantId, request.imageAssetId);
  if (image !== null && 'code' in image) return image;
  return { kind: 'OK', offer, request, requestHash: hashOf(request), priceMicros, image };
};

const readImage = async (
  stores: Stores,
  tenantId: string,
  assetId: string | null,
): Promise<Asset | null | Refusal<CreateRefusal>> => {
  if (assetId === null) return null;
  const asset = await stores.assets.read(assetId);
  // Another tenant's asset reads exactly like one that does not exist.
  if (asset === null || asset.tenantId !== tenantId || asset.status === 'DELETED') {
    return refuse('ASSET_NOT_FOUND', 'There is no such asset.', 'imageAssetId');
  }
  if (asset.kind !== 'INPUT_IMAGE') {
    return refuse('ASSET_WRONG_KIND', 'The reference must be an image.', 'imageAssetId');
  }
  if (asset.status !== 'READY') {
    return refuse('ASSET_NOT_READY', `The asset is ${asset.status}, not READY.`, 'imageAssetId');
  }
  return asset;
};

export const hashOf = (request: NormalizedRequest): string =>
  createHash('sha256').update(canonicalJson(request)).digest('hex');

/** A seed the caller did not choose: the same for a repeat under the same key, another for another key. */
export const seedOf = (request: NormalizedRequest, requestHash: string, key: string): number =>
  request.seed ??
  createHash('sha256').update(`${requestHash}:${key}`).digest().readUInt32BE(0) % (SEED_MAX + 1);
