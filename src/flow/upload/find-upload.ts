import { refuse, type Refusal } from '../../domain/generation/refusals';
import { planOf, type PartPlan } from '../../domain/output/part-plan';
import type { UploadRefusal } from '../../domain/output/upload-rules';
import { crashpoint } from '../../ports/crash-points';
import type { ObjectStore } from '../../ports/object-store';
import type { UploadSession } from '../../ports/stores/asset-store';
import type { FlowContext } from '../flow-context';

export interface UploadAddress {
  readonly tenantId: string;
  readonly assetId: string;
}

/** An upload in parts that takes parts, as the store knows it. */
export interface PartsUpload {
  readonly session: UploadSession;
  readonly plan: PartPlan;
  readonly storeUploadId: string;
}

export const NO_UPLOAD = refuse<UploadRefusal>(
  'ASSET_NOT_FOUND',
  'There is no such upload.',
  'assetId',
);

const ENDED: Readonly<
  Record<Exclude<UploadSession['status'], 'OPEN'>, readonly [UploadRefusal, string]>
> = {
  COMPLETED: ['UPLOAD_COMPLETED', 'The upload has been completed; it takes no more parts.'],
  EXPIRED: ['UPLOAD_EXPIRED', 'The upload has expired; open a new one.'],
  ABORTED: ['UPLOAD_ABORTED', 'The upload has been aborted; open a new one.'],
};

/** Why an upload that is over is so. */
export const refuseEnded = (
  status: Exclude<UploadSession['status'], 'OPEN'>,
): Refusal<UploadRefusal> => {
  const [code, message] = ENDED[status];
  return refuse(code, message, 'assetId');
};

/** The upload of an asset of this tenant; one of another reads like none. */
export const readUpload = async (
  context: FlowContext,
  { tenantId, assetId }: UploadAddress,
): Promise<UploadSession | null> => {
  const session = await context.uow.stores.assets.readUploadOfAsset(assetId);
  return session?.tenantId === tenantId ? session : null;
};

/** An upload in parts whose time is not over. */
export const findPartsUpload = async (
  context: FlowContext,
  objects: Pick<ObjectStore, 'parts'>,
  address: UploadAddress,
): Promise<({ readonly kind: 'FOUND' } & PartsUpload) | Refusal<UploadRefusal>> => {
  const session = await readUpload(context, address);
  if (session === null) return NO_UPLOAD;
  if (session.partSizeBytes === null) {
    return refuse('UPLOAD_NOT_IN_PARTS', 'The upload takes its bytes in one piece.', 'assetId');
  }
  if (session.status !== 'OPEN') return refuseEnded(session.status);
  if (session.expiresAt <= context.clock.now()) return refuseEnded('EXPIRED');
  const storeUploadId = await ensureBegun(context, objects, session);
  if (storeUploadId === null) return refuseEnded('EXPIRED');
  const plan = planOf(Number(session.declaredSizeBytes), Number(session.partSizeBytes));
  return { kind: 'FOUND', session, plan, storeUploadId };
};

/**
 * By what name the store knows the upload. Whoever needs it first begins it there: a process that died between the row and the
 * store leaves an upload that can go on, and what it began and did not note is found by its key when the upload ends.
 * @returns null when the upload came to its end meanwhile
 */
export const ensureBegun = async (
  context: FlowContext,
  objects: Pick<ObjectStore, 'parts'>,
  session: UploadSession,
): Promise<string | null> => {
  if (session.storeUploadId !== null) return session.storeUploadId;
  const { quarantineKey, declaredMime } = session;
  const begun = await objects.parts.begin(quarantineKey, { contentType: declaredMime });
  crashpoint('upload.after_begin_before_record');
  const { assets } = context.uow.stores;
  if (await assets.nameStoreUpload(session.id, begun)) return begun;
  await objects.parts.abort(quarantineKey, begun);
  const now = await assets.readUploadOfAsset(session.assetId);
  return now?.status === 'OPEN' ? now.storeUploadId : null;
};
