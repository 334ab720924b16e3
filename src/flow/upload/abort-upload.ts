import type { Refusal } from '../../domain/generation/refusals';
import type { Asset } from '../../domain/output/asset';
import type { UploadRefusal } from '../../domain/output/upload-rules';
import { crashpoint } from '../../ports/crash-points';
import type { ObjectStore } from '../../ports/object-store';
import type { FlowContext } from '../flow-context';
import { NO_UPLOAD, refuseEnded, type UploadAddress } from './find-upload';

export type AbortUploadOutcome =
  { readonly kind: 'ABORTED'; readonly asset: Asset } | Refusal<UploadRefusal>;

/**
 * Gives an upload up: its asset is FAILED, and everything that was sent goes. First the row, then the bytes: should this end in
 * between, the sweep of quarantine finds them. A repeat answers the same asset.
 */
export const abortUpload = async (
  context: FlowContext,
  objects: Pick<ObjectStore, 'parts' | 'delete'>,
  input: UploadAddress & { readonly traceId: string },
): Promise<AbortUploadOutcome> => {
  const outcome = await context.uow.transact<
    AbortUploadOutcome & { readonly quarantineKey?: string }
  >(async (tx) => {
    const asset = await tx.assets.lock(input.assetId);
    const session = await tx.assets.lockUploadOfAsset(input.assetId);
    if (asset === null || session === null || asset.tenantId !== input.tenantId) return NO_UPLOAD;
    const { quarantineKey } = session;
    if (session.status === 'ABORTED') return { kind: 'ABORTED', asset, quarantineKey };
    if (session.status !== 'OPEN') return refuseEnded(session.status);
    const now = context.clock.now();
    await tx.assets.closeUpload(session.id, 'ABORTED', now);
    const gone = { rejectionCode: 'UPLOAD_ABORTED', quarantineKey: null };
    const failed = await tx.assets.patch(asset, 'FAILED', gone, now);
    await tx.outbox.add(
      {
        type: 'asset',
        id: asset.id,
        version: failed.version,
        tenantId: asset.tenantId,
        traceId: input.traceId,
        causationId: null,
      },
      [
        {
          eventId: context.ids.next(now),
          type: 'asset.status.changed',
          payload: { assetId: asset.id, status: 'FAILED' },
          availableAt: now,
        },
      ],
      now,
    );
    return { kind: 'ABORTED', asset: failed, quarantineKey };
  });
  if (outcome.kind === 'REFUSED' || outcome.quarantineKey === undefined) return outcome;
  crashpoint('upload.after_abort_before_cleanup');
  await removeBytes(objects, outcome.quarantineKey);
  return { kind: 'ABORTED', asset: outcome.asset };
};

/** Whatever came of an upload, in parts or whole. */
export const removeBytes = async (
  objects: Pick<ObjectStore, 'parts' | 'delete'>,
  quarantineKey: string,
): Promise<void> => {
  await objects.parts.abort(quarantineKey);
  await objects.delete(quarantineKey);
};
