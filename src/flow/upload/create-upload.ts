import type { Asset } from '../../domain/output/asset';
import { inputKey, PIPELINE_VERSION, quarantineKey } from '../../domain/output/object-keys';
import { planParts, type PartPlan } from '../../domain/output/part-plan';
import {
  judgeUpload,
  type UploadInput,
  type UploadMethod,
  type UploadRefusal,
} from '../../domain/output/upload-rules';
import { refuse, type Refusal } from '../../domain/generation/refusals';
import { crashpoint } from '../../ports/crash-points';
import type { ObjectStore, UploadTicket } from '../../ports/object-store';
import type { FlowContext } from '../flow-context';
import { ensureBegun, readUpload } from './find-upload';

/** Where the bytes go: a URL for all of them, or how to cut them for the URLs that are signed part by part. */
export type OpenedUpload =
  | { readonly method: 'PUT'; readonly ticket: UploadTicket }
  | { readonly method: 'PARTS'; readonly plan: PartPlan; readonly expiresAt: Date };

export type CreateUploadOutcome =
  | { readonly kind: 'OPENED'; readonly asset: Asset; readonly opened: OpenedUpload }
  | Refusal<UploadRefusal>;

export interface CreateUploadInput extends UploadInput {
  readonly tenantId: string;
  readonly projectId: string | null;
  readonly method: Exclude<UploadMethod, 'POST'>;
  /** What the client would like; null: as the product sees fit. */
  readonly partSizeBytes: number | null;
}

/**
 * Opens an upload: an asset row, a server-made quarantine key, and a short-lived URL for exactly these bytes (size, type and
 * SHA-256 are signed), or an upload in parts. The bytes go from the client to the object store; the product never sees them pass.
 */
export const createUpload = async (
  context: FlowContext,
  objects: ObjectStore,
  input: CreateUploadInput,
): Promise<CreateUploadOutcome> => {
  const tenant = await context.uow.stores.catalog.readTenant(input.tenantId);
  if (tenant === null || tenant.status !== 'ACTIVE') {
    return refuse('TENANT_PAUSED', 'The account is paused; ask the operator.');
  }
  const judged = judgeUpload(input, tenant.uploadBytesMax);
  if (judged.kind === 'REFUSED') return judged;
  const planned = input.method === 'PARTS' ? planParts(input.sizeBytes, input.partSizeBytes) : null;
  if (planned?.kind === 'REFUSED') return planned;
  const now = context.clock.now();
  const assetId = context.ids.next(now);
  const quarantine = quarantineKey(input.tenantId, assetId);
  const { uploadTicketMs, uploadPartsMs } = context.settings;
  const lifeMs = planned === null ? uploadTicketMs : uploadPartsMs;
  const expiresAt = new Date(now.getTime() + lifeMs);
  const asset = await context.uow.transact(async (tx) => {
    await tx.assets.insert(
      {
        id: assetId,
        tenantId: input.tenantId,
        projectId: input.projectId,
        taskId: null,
        attemptId: null,
        parentAssetId: null,
        kind: judged.assetKind,
        status: 'UPLOADING',
        fileName: input.fileName,
        objectKey: inputKey(input.tenantId, assetId),
        quarantineKey: quarantine,
        entryName: null,
        sizeBytes: BigInt(input.sizeBytes),
        sha256: input.sha256,
        declaredMime: input.contentType,
        detectedMime: null,
        pipelineVersion: PIPELINE_VERSION,
        businessKey: `upload:${assetId}`,
      },
      now,
    );
    await tx.assets.insertUpload(
      {
        id: context.ids.next(now),
        tenantId: input.tenantId,
        assetId,
        quarantineKey: quarantine,
        fileName: input.fileName,
        declaredMime: input.contentType,
        declaredSizeBytes: BigInt(input.sizeBytes),
        declaredSha256: input.sha256,
        method: input.method,
        partSizeBytes: planned === null ? null : BigInt(planned.plan.partSizeBytes),
        expiresAt,
      },
      now,
    );
    return tx.assets.read(assetId);
  });
  if (asset === null) throw new Error('The asset just inserted cannot be read');
  crashpoint('upload.after_session_before_answer');
  if (planned !== null) {
    const session = await readUpload(context, { tenantId: input.tenantId, assetId });
    if (session === null) throw new Error('The upload just inserted cannot be read');
    await ensureBegun(context, objects, session);
    return { kind: 'OPENED', asset, opened: { method: 'PARTS', plan: planned.plan, expiresAt } };
  }
  const ticket = await objects.presignPut(quarantine, {
    sizeBytes: input.sizeBytes,
    sha256: input.sha256,
    contentType: input.contentType,
    now,
    expiresAt,
  });
  return { kind: 'OPENED', asset, opened: { method: 'PUT', ticket } };
};
