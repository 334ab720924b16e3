import { Arg, Authorized, Ctx, Mutation, Resolver } from 'type-graphql';

import { completeUpload } from '../flow/upload/complete-upload';
import { createUpload } from '../flow/upload/create-upload';
import { callerOf, type ApiContext } from './api-context';
import { AssetType } from './asset-type';
import {
  AssetUploadCompleteInput,
  AssetUploadCompletePayload,
  AssetUploadCreateInput,
  AssetUploadCreatePayload,
  toTicket,
  uploadError,
} from './asset-upload-type';
import { hasProject } from './project';
import { toUuid } from './public-id';

@Resolver()
export class AssetUploadResolver {
  @Authorized('assets:write')
  @Mutation(() => AssetUploadCreatePayload, {
    description:
      'Opens an upload: answers a short-lived URL for exactly the described bytes, or how to cut them into parts.',
  })
  async assetUploadCreate(
    @Arg('input', () => AssetUploadCreateInput, { description: 'What is asked.' })
    input: AssetUploadCreateInput,
    @Ctx() context: ApiContext,
  ): Promise<AssetUploadCreatePayload> {
    const { tenantId } = callerOf(context);
    const { deps } = context;
    if (!(await hasProject(context, input.projectId))) return refusedUpload(PROJECT_NOT_FOUND);
    const outcome = await createUpload(deps.context, deps.objects, {
      tenantId,
      projectId: input.projectId == null ? null : toUuid('project', input.projectId),
      fileName: input.fileName,
      contentType: input.contentType,
      sizeBytes: input.sizeBytes,
      sha256: input.sha256,
      method: input.method,
      partSizeBytes: input.partSizeBytes ?? null,
    });
    if (outcome.kind === 'REFUSED') return refusedUpload(outcome);
    const { opened } = outcome;
    return {
      asset: new AssetType(outcome.asset),
      upload: opened.method === 'PUT' ? toTicket(opened.ticket) : null,
      parts: opened.method === 'PARTS' ? { ...opened.plan, expiresAt: opened.expiresAt } : null,
      userErrors: [],
    };
  }

  @Authorized('assets:write')
  @Mutation(() => AssetUploadCompletePayload, {
    description: 'Says that the bytes were sent. A repeat answers the same.',
  })
  async assetUploadComplete(
    @Arg('input', () => AssetUploadCompleteInput, { description: 'What is asked.' })
    input: AssetUploadCompleteInput,
    @Ctx() context: ApiContext,
  ): Promise<AssetUploadCompletePayload> {
    const { deps, requestId } = context;
    const outcome = await completeUpload(deps.context, deps.objects, {
      tenantId: callerOf(context).tenantId,
      assetId: toUuid('asset', input.assetId),
      parts: input.parts ?? [],
      traceId: requestId,
    });
    return outcome.kind === 'REFUSED'
      ? { asset: null, userErrors: [uploadError.from(outcome)] }
      : { asset: new AssetType(outcome.asset), userErrors: [] };
  }
}

const PROJECT_NOT_FOUND = {
  code: 'PROJECT_NOT_FOUND',
  message: 'There is no such project.',
  field: 'projectId',
} as const;

const refusedUpload = (
  refusal: Parameters<typeof uploadError.from>[0],
): AssetUploadCreatePayload => ({
  asset: null,
  upload: null,
  parts: null,
  userErrors: [uploadError.from(refusal)],
});
