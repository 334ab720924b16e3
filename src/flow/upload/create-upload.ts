import type { Asset } from '../../domain/output/asset';
import { inputKey, PIPELINE_VERSION, quarantineKey } from '../../domain/output/object-keys';
import {
  judgeUpload,
  type UploadInput,
  type UploadRefusal,
} from '../../domain/output/upload-rules';
import { refuse, type Refusal } from '../../domain/generation/refusals';
import { crashpoint } from '../../ports/crash-points';
import type { ObjectStore, UploadTicket } from '../../ports/object-store';
import type { FlowContext } from '../flow-context';

export type CreateUploadOutcome =
  | { readonly kind: 'OPENED'; readonly asset: Asset; readonly ticket: UploadTicket }
  | Refusal<UploadRefusal>;

/**
 * Opens an upload: an asset row, a server-made quarantine key, and a short-lived URL for exactly these bytes (size, type and
 * SHA-256 are signed). The bytes go from the client to the object store; the product never sees them pass.
 */
export const createUpload = async (
  context: FlowContext,
  objects: ObjectStore,
  input: UploadInput & { readonly tenantId: string; readonly projectId: string | null },
): Promise<CreateUploadOutcome> => {
  const tenant = await context.uow.stores.catalog.readTenant(input.tenantId);
  if (tenant === null || tenant.status !== 'ACTIVE') {
    return refuse('TENANT_PAUSED', 'The account is paused; ask the operator.');
  }
  const judged = judgeUpload(input, tenant.uploadBytesMax);
  if (judged.kind === 'REFUSED') return judged;
  const now = context.clock.now();
  const assetId = context.ids.next(now);
  const quarantine = quarantineKey(input.tenantId, assetId);
  const expiresAt = new Date(now.getTime() + context.settings.uploadTicketMs);
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
        expiresAt,
      },
      now,
    );
    return tx.assets.read(assetId);
  });
  if (asset === null) throw new Error('The asset just inserted cannot be read');
  crashpoint('upload.after_session_before_answer');
  const ticket = await objects.presignPut(quarantine, {
    sizeBytes: input.sizeBytes,
    sha256: input.sha256,
    contentType: input.contentType,
    now,
    expiresAt,
  });
  return { kind: 'OPENED', asset, ticket };
};
