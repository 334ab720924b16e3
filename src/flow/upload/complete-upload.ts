import type { Asset } from '../../domain/output/asset';
import type { UploadRefusal } from '../../domain/output/upload-rules';
import { refuse, type Refusal } from '../../domain/generation/refusals';
import { crashpoint } from '../../ports/crash-points';
import type { ObjectStore } from '../../ports/object-store';
import type { NamedPart } from '../../ports/part-uploads';
import type { UploadSession } from '../../ports/stores/asset-store';
import type { FlowContext } from '../flow-context';
import { NO_UPLOAD, readUpload, refuseEnded } from './find-upload';
import { joinParts } from './join-parts';

export type CompleteUploadOutcome =
  { readonly kind: 'COMPLETED'; readonly asset: Asset } | Refusal<UploadRefusal>;

export interface CompleteUploadInput {
  readonly tenantId: string;
  readonly assetId: string;
  /** Of an upload in parts, all of them. */
  readonly parts: readonly NamedPart[];
  readonly traceId: string;
}

/**
 * The client says that its bytes are there: parts are put together, existence, size and checksum are confirmed with the store,
 * then validation is asked for. The checksum of what came in parts is known when the validation has read it. Complete is not
 * usable: the asset stays out of reach until it is READY. A repeat answers the same asset.
 */
export const completeUpload = async (
  context: FlowContext,
  objects: Pick<ObjectStore, 'parts' | 'head' | 'measure'>,
  input: CompleteUploadInput,
): Promise<CompleteUploadOutcome> => {
  const asset = await context.uow.stores.assets.read(input.assetId);
  // What a generation made was never uploaded.
  if (asset === null || asset.tenantId !== input.tenantId || asset.taskId !== null) {
    return NO_UPLOAD;
  }
  if (asset.status !== 'UPLOADING') return judgeRepeat(asset);
  if (asset.quarantineKey === null) throw new Error(`Upload ${asset.id} has lost its key`);
  const session = await readUpload(context, input);
  if (session?.method === 'PARTS') {
    const refusal = await joinParts(context, objects, input, input.parts);
    if (refusal?.code === 'UPLOAD_COMPLETED') return repeatAnswer(context, asset.id);
    if (refusal !== null) return refusal;
  }
  const stored = await lookAt(objects, asset.quarantineKey, session?.method === 'PARTS');
  const completed = await context.uow.transact<CompleteUploadOutcome>(async (tx) => {
    const locked = await tx.assets.lock(input.assetId);
    const session = await tx.assets.lockUploadOfAsset(input.assetId);
    if (locked === null || session === null) return NO_UPLOAD;
    if (locked.status !== 'UPLOADING') return judgeRepeat(locked);
    const refusal = judgeStored(session, stored);
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

/** Another complete was faster. */
const repeatAnswer = async (
  context: FlowContext,
  assetId: string,
): Promise<CompleteUploadOutcome> => {
  const asset = await context.uow.stores.assets.read(assetId);
  return asset === null ? NO_UPLOAD : judgeRepeat(asset);
};

/** Completed before: the same asset, whatever became of it. One whose time ran out, or that was given up, never was. */
const judgeRepeat = (asset: Asset): CompleteUploadOutcome => {
  if (asset.rejectionCode === 'UPLOAD_EXPIRED') return refuseEnded('EXPIRED');
  if (asset.rejectionCode === 'UPLOAD_ABORTED') return refuseEnded('ABORTED');
  return { kind: 'COMPLETED', asset };
};

interface Stored {
  readonly sizeBytes: number;
  /** Null: nobody has read the bytes yet. */
  readonly sha256: string | null;
}

const lookAt = async (
  objects: Pick<ObjectStore, 'head' | 'measure'>,
  key: string,
  cameInParts: boolean,
): Promise<Stored | null> => {
  const head = await objects.head(key);
  if (head !== null || !cameInParts) return head;
  const measured = await objects.measure(key);
  return measured === null ? null : { sizeBytes: measured.sizeBytes, sha256: null };
};

const judgeStored = (
  session: UploadSession,
  stored: Stored | null,
): Refusal<UploadRefusal> | null => {
  if (session.status !== 'OPEN') return refuseEnded(session.status);
  if (stored === null) {
    return refuse(
      'UPLOAD_INCOMPLETE',
      'The bytes have not arrived; send them to the upload URL first.',
      'assetId',
    );
  }
  if (BigInt(stored.sizeBytes) !== session.declaredSizeBytes) {
    return refuse(
      'UPLOAD_SIZE_MISMATCH',
      'The stored size is not the one you declared.',
      'assetId',
    );
  }
  return stored.sha256 === null || stored.sha256 === session.declaredSha256
    ? null
    : refuse(
        'UPLOAD_CHECKSUM_MISMATCH',
        'The stored bytes do not have the checksum you declared.',
        'assetId',
      );
};
