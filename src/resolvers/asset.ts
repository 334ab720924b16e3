import { MaxLength } from 'class-validator';
import {
  Arg,
  Args,
  ArgsType,
  Authorized,
  Ctx,
  Field,
  ID,
  InputType,
  Mutation,
  ObjectType,
  Query,
  Resolver,
} from 'type-graphql';

import type { AssetKind, AssetStatus } from '../domain/output/asset';
import type { UploadRefusal } from '../domain/output/upload-rules';
import { completeUpload } from '../flow/upload/complete-upload';
import { createUpload } from '../flow/upload/create-upload';
import { callerOf, type ApiContext } from './api-context';
import { AssetConnection, AssetKindEnum, AssetStatusEnum, AssetType } from './asset-type';
import { PageArgs, toConnection, toPageRequest, type Connection } from './connection';
import { enumType } from './enum-type';
import { hasProject } from './project';
import { toUuid } from './public-id';
import { DateTimeScalar, SafeIntScalar, UrlScalar } from './scalars';
import { userErrorType } from './user-error';

const AssetUploadErrorCode = enumType<UploadRefusal>(
  'AssetUploadErrorCode',
  'Why an upload was refused.',
  {
    ASSET_NOT_FOUND: 'There is no such upload.',
    UPLOAD_EXPIRED: 'Its time is over; open a new one.',
    UPLOAD_INCOMPLETE: 'The bytes have not arrived.',
    UPLOAD_SIZE_MISMATCH: 'The bytes are not as many as declared.',
    UPLOAD_CHECKSUM_MISMATCH: 'The bytes are others than declared.',
    EMPTY_FILE: 'A file has bytes.',
    FILE_TOO_LARGE: 'Larger than the account allows.',
    UNSUPPORTED_TYPE: 'Not a type that can be used.',
    CHECKSUM_INVALID: 'Not a SHA-256 in hex.',
    FILE_NAME_INVALID: 'Empty, too long, or with control characters.',
    PROJECT_NOT_FOUND: 'There is no such project.',
    TENANT_PAUSED: 'The account is paused.',
  },
);

const uploadError = userErrorType(
  'AssetUploadError',
  AssetUploadErrorCode,
  'Why an upload was refused.',
);
type AssetUploadError = ReturnType<typeof uploadError.from>;

@InputType({
  description: 'The file that is to be uploaded, described exactly: the URL takes no other.',
})
export class AssetUploadCreateInput {
  @Field(() => String, { description: '1 to 255 printable characters, for people only.' })
  fileName!: string;

  @Field(() => String, {
    description: 'image/jpeg, image/png, image/webp, video/mp4, video/webm or video/quicktime.',
  })
  @MaxLength(127)
  contentType!: string;

  @Field(() => SafeIntScalar, { description: 'Bytes.' })
  sizeBytes!: number;

  @Field(() => String, { description: 'SHA-256 of the bytes in lower-case hex.' })
  @MaxLength(128)
  sha256!: string;

  @Field(() => ID, { nullable: true, description: 'The project that it shall belong to.' })
  projectId?: string | null;
}

@ObjectType({ description: 'A header that the upload must carry exactly so.' })
export class UploadHeader {
  @Field(() => String, { description: 'Name.' })
  name!: string;

  @Field(() => String, { description: 'Value.' })
  value!: string;
}

@ObjectType({ description: 'Where to send the bytes: one PUT with exactly these headers.' })
export class UploadTicketType {
  @Field(() => UrlScalar, { description: 'A secret for as long as it serves.' })
  url!: string;

  @Field(() => String, { description: 'PUT.' })
  method!: string;

  @Field(() => [UploadHeader], { description: 'Send these.' })
  headers!: readonly UploadHeader[];

  @Field(() => DateTimeScalar, { description: 'Open a new upload after this.' })
  expiresAt!: Date;
}

@ObjectType({ description: 'Answer of assetUploadCreate.' })
export class AssetUploadCreatePayload {
  @Field(() => AssetType, { nullable: true, description: 'The asset, UPLOADING.' })
  asset!: AssetType | null;

  @Field(() => UploadTicketType, { nullable: true, description: 'Where to send the bytes.' })
  upload!: UploadTicketType | null;

  @Field(() => [uploadError.type], { description: 'Empty when it was done.' })
  userErrors!: readonly AssetUploadError[];
}

@InputType({ description: 'Which upload is done.' })
export class AssetUploadCompleteInput {
  @Field(() => ID, { description: 'Of the asset that assetUploadCreate answered.' })
  assetId!: string;
}

@ObjectType({ description: 'Answer of assetUploadComplete.' })
export class AssetUploadCompletePayload {
  @Field(() => AssetType, {
    nullable: true,
    description: 'The asset, VALIDATING: usable once it is READY. Watch assetUpdated.',
  })
  asset!: AssetType | null;

  @Field(() => [uploadError.type], { description: 'Empty when it was done.' })
  userErrors!: readonly AssetUploadError[];
}

@ArgsType()
export class AssetListArgs extends PageArgs {
  @Field(() => [AssetStatusEnum], { nullable: true, description: 'Only these.' })
  status?: AssetStatus[] | null;

  @Field(() => [AssetKindEnum], { nullable: true, description: 'Only these.' })
  kind?: AssetKind[] | null;

  @Field(() => ID, { nullable: true, description: 'Only of this project.' })
  projectId?: string | null;

  @Field(() => DateTimeScalar, { nullable: true, description: 'Only from this time on.' })
  createdAfter?: Date | null;

  @Field(() => DateTimeScalar, { nullable: true, description: 'Only before this time.' })
  createdBefore?: Date | null;
}

@Resolver()
export class AssetResolver {
  @Authorized('generations:read', 'assets:write')
  @Query(() => AssetType, { nullable: true, description: 'An asset; null when there is none.' })
  async asset(
    @Arg('id', () => ID, { description: 'As `ast_…`.' }) id: string,
    @Ctx() context: ApiContext,
  ): Promise<AssetType | null> {
    const { tenantId } = callerOf(context);
    const asset = await context.loaders.asset.load({ tenantId, id: toUuid('asset', id) });
    return asset === null ? null : new AssetType(asset);
  }

  @Authorized('generations:read', 'assets:write')
  @Query(() => AssetConnection, { description: 'Assets of the account, newest first.' })
  async assets(
    @Args(() => AssetListArgs) args: AssetListArgs,
    @Ctx() context: ApiContext,
  ): Promise<Connection<AssetType>> {
    const request = toPageRequest('asset', args);
    const page = await context.deps.reads.pageAssets(
      callerOf(context).tenantId,
      {
        statuses: args.status ?? null,
        kinds: args.kind ?? null,
        projectId: args.projectId == null ? null : toUuid('project', args.projectId),
        createdAfter: args.createdAfter ?? null,
        createdBefore: args.createdBefore ?? null,
      },
      request,
    );
    return toConnection('asset', request, page, (asset) => new AssetType(asset));
  }

  @Authorized('assets:write')
  @Mutation(() => AssetUploadCreatePayload, {
    description: 'Opens an upload: answers a short-lived URL for exactly the described bytes.',
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
    });
    if (outcome.kind === 'REFUSED') return refusedUpload(outcome);
    const { url, method, headers, expiresAt } = outcome.ticket;
    return {
      asset: new AssetType(outcome.asset),
      upload: {
        url,
        method,
        headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
        expiresAt,
      },
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
  userErrors: [uploadError.from(refusal)],
});
