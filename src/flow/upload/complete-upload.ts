import type { Asset } from '../../domain/output/asset';
import type { UploadRefusal } from '../../domain/output/upload-rules';
import { refuse, type Refusal } from '../../domain/generation/refusals';
import { crashpoint } from '../../ports/crash-points';
import type { ObjectHead, ObjectStore } from '../../ports/object-store';
import type { UploadSession } from '../../ports/stores/asset-store';
import type { FlowContext } from '../flow-context';

export type CompleteUploadOutcome =
  { readonly kind: 'COMPLETED'; readonly asset: Asset } | Refusal<UploadRefusal>;

/**
 * The client says that its bytes are there: existence, size and checksum are confirmed with the store, then validation is
 * asked for. Complete is not usable: the asset stays out of reach until it is READY. A repeat answers the same asset.
 */
export const completeUpload = async (
  context: FlowContext,
  objects: ObjectStore,
  input: { readonly tenantId: string; readonly assetId: string; readonly traceId: string },
): Promise<CompleteUploadOutcome> => {
  const asset = await context.uow.stores.assets.read(input.assetId);
  // What a generation made was never uploaded.
  if (asset === null || asset.tenantId !== input.tenantId || asset.taskId !== null) {
    return refuse('ASSET_NOT_FOUND', 'There is no such upload.', 'assetId');
  }
  if (asset.status !== 'UPLOADING') return judgeRepeat(asset);
  if (asset.quarantineKey === null) throw new Error(`Upload ${asset.id} has lost its key`);
  const head = await objects.head(asset.quarantineKey);
  const completed = await context.uow.transact<CompleteUploadOutcome>(async (tx) => {
    const locked = await tx.assets.lock(input.assetId);
    const session = await tx.assets.lockUploadOfAsset(input.assetId);
    if (locked === null || session === null) {
      return refuse('ASSET_NOT_FOUND', 'There is no such upload.', 'assetId');
    }
    if (locked.status !== 'UPLOADING') return judgeRepeat(locked);
    const refusal = judgeStored(session, head);
    if (refusal !== null) return refusal;
    const now = context.clock.now();
    await tx.assets.closeUpload(session.id, 'COMPLETED', now);
    const validating = await tx.assets.patch(locked, 'VALIDATING', {}, now);
    await tx.outbox.add(
      {
        type: 'asset',
        id: locked.id,
        version: validating.version,
        tenantId: locked.tenantId,
        traceId: input.traceId,
        causationId: null,
      },
      [
        {
          eventId: context.ids.next(now),
          type: 'asset.validation.requested',
          payload: { assetId: locked.id },
          availableAt: now,
        },
      ],
      now,
    );
    crashpoint('upload.after_completion_before_commit');
    return { kind: 'COMPLETED', asset: validating };
  });
  crashpoint('upload.after_completion_before_answer');
  return completed;
};

/** Completed before: the same asset, whatever became of it. One whose time ran out never was. */
const judgeRepeat = (asset: Asset): CompleteUploadOutcome =>
  asset.rejectionCode === 'UPLOAD_EXPIRED'
    ? refuse('UPLOAD_EXPIRED', 'The upload has expired; open a new one.', 'assetId')
    : { kind: 'COMPLETED', asset };

const judgeStored = (
  session: UploadSession,
  head: ObjectHead | null,
): Refusal<UploadRefusal> | null => {
  if (session.status !== 'OPEN')
    return refuse('UPLOAD_EXPIRED', 'The upload has expired; open a new one.', 'assetId');
  if (head === null) {
    return refuse(
      'UPLOAD_INCOMPLETE',
      'The bytes have not arrived; send them to the upload URL first.',
      'assetId',
    );
  }
  if (BigInt(head.sizeBytes) !== session.declaredSizeBytes) {
    return refuse(
      'UPLOAD_SIZE_MISMATCH',
      'The stored size is not the one you declared.',
      'assetId',
    );
  }
  return head.sha256 === session.declaredSha256
    ? null
    : refuse(
        'UPLOAD_CHECKSUM_MISMATCH',
        'The stored bytes do not have the checksum you declared.',
        'assetId',
      );
};
