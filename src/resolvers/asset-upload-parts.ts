import { ArrayMaxSize } from 'class-validator';
import {
  Arg,
  Authorized,
  Ctx,
  Field,
  ID,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
} from 'type-graphql';

import { PARTS_SIGNED_MAX } from '../domain/output/part-plan';
import { abortUpload } from '../flow/upload/abort-upload';
import { listParts, signParts } from '../flow/upload/send-parts';
import { callerOf, type ApiContext } from './api-context';
import { AssetType } from './asset-type';
import {
  toTicket,
  uploadError,
  UploadPlanType,
  UploadTicketType,
  type AssetUploadError,
} from './asset-upload-type';
import { toUuid } from './public-id';
import { SafeIntScalar } from './scalars';

@InputType({ description: 'Which parts are about to be sent.' })
export class AssetUploadPartsSignInput {
  @Field(() => ID, { description: 'Of the asset that assetUploadCreate answered.' })
  assetId!: string;

  @Field(() => [Int], { description: 'From 1; at most 100 at once.' })
  @ArrayMaxSize(PARTS_SIGNED_MAX)
  partNumbers!: number[];
}

@ObjectType({ description: 'Where to send one part: one PUT of exactly so many bytes.' })
export class SignedUploadPart {
  @Field(() => Int, { description: 'From 1.' })
  number!: number;

  @Field(() => SafeIntScalar, { description: 'Bytes of this part.' })
  sizeBytes!: number;

  @Field(() => UploadTicketType, { description: 'Keep the ETag header of the answer.' })
  upload!: UploadTicketType;
}

@ObjectType({ description: 'Answer of assetUploadPartsSign.' })
export class AssetUploadPartsSignPayload {
  @Field(() => [SignedUploadPart], {
    description: 'In the order asked. URLs can be had again: parts that have arrived are kept.',
  })
  parts!: readonly SignedUploadPart[];

  @Field(() => [uploadError.type], { description: 'Empty when it was done.' })
  userErrors!: readonly AssetUploadError[];
}

@ObjectType({ description: 'A part that has arrived.' })
export class StoredUploadPart {
  @Field(() => Int, { description: 'From 1.' })
  number!: number;

  @Field(() => SafeIntScalar, { description: 'Bytes.' })
  sizeBytes!: number;

  @Field(() => String, { description: 'To be named when the upload is completed.' })
  etag!: string;
}

@ObjectType({ description: 'What has arrived of an upload in parts: go on from here.' })
export class AssetUploadPartsPayload {
  @Field(() => UploadPlanType, { nullable: true, description: 'How the file is cut.' })
  plan!: UploadPlanType | null;

  @Field(() => [StoredUploadPart], { description: 'In order of number.' })
  parts!: readonly StoredUploadPart[];

  @Field(() => Boolean, {
    description: 'All parts have been put together already: complete the upload again.',
  })
  assembled!: boolean;

  @Field(() => [uploadError.type], { description: 'Empty when there is such an upload.' })
  userErrors!: readonly AssetUploadError[];
}

@InputType({ description: 'Which upload is given up.' })
export class AssetUploadAbortInput {
  @Field(() => ID, { description: 'Of the asset that assetUploadCreate answered.' })
  assetId!: string;
}

@ObjectType({ description: 'Answer of assetUploadAbort.' })
export class AssetUploadAbortPayload {
  @Field(() => AssetType, { nullable: true, description: 'The asset, FAILED.' })
  asset!: AssetType | null;

  @Field(() => [uploadError.type], { description: 'Empty when it was done.' })
  userErrors!: readonly AssetUploadError[];
}

@Resolver()
export class AssetUploadPartsResolver {
  @Authorized('assets:write')
  @Query(() => AssetUploadPartsPayload, {
    description: 'The parts of an upload that have arrived, also after a reload or a night.',
  })
  async assetUploadParts(
    @Arg('assetId', () => ID, { description: 'As `ast_…`.' }) assetId: string,
    @Ctx() context: ApiContext,
  ): Promise<AssetUploadPartsPayload> {
    const { deps } = context;
    const outcome = await listParts(deps.context, deps.objects, {
      tenantId: callerOf(context).tenantId,
      assetId: toUuid('asset', assetId),
    });
    if (outcome.kind === 'REFUSED') {
      const userErrors = [uploadError.from(outcome)];
      return { plan: null, parts: [], assembled: false, userErrors };
    }
    const { plan, parts, areJoined, expiresAt } = outcome;
    return { plan: { ...plan, expiresAt }, parts, assembled: areJoined, userErrors: [] };
  }

  @Authorized('assets:write')
  @Mutation(() => AssetUploadPartsSignPayload, {
    description: 'Answers a short-lived URL for each of these parts, as often as it is asked.',
  })
  async assetUploadPartsSign(
    @Arg('input', () => AssetUploadPartsSignInput, { description: 'What is asked.' })
    input: AssetUploadPartsSignInput,
    @Ctx() context: ApiContext,
  ): Promise<AssetUploadPartsSignPayload> {
    const { deps } = context;
    const outcome = await signParts(deps.context, deps.objects, {
      tenantId: callerOf(context).tenantId,
      assetId: toUuid('asset', input.assetId),
      numbers: input.partNumbers,
    });
    if (outcome.kind === 'REFUSED') return { parts: [], userErrors: [uploadError.from(outcome)] };
    return {
      parts: outcome.parts.map(({ ticket, ...part }) => ({ ...part, upload: toTicket(ticket) })),
      userErrors: [],
    };
  }

  @Authorized('assets:write')
  @Mutation(() => AssetUploadAbortPayload, {
    description: 'Gives an upload up: what was sent is removed. A repeat answers the same.',
  })
  async assetUploadAbort(
    @Arg('input', () => AssetUploadAbortInput, { description: 'What is asked.' })
    input: AssetUploadAbortInput,
    @Ctx() context: ApiContext,
  ): Promise<AssetUploadAbortPayload> {
    const { deps, requestId } = context;
    const outcome = await abortUpload(deps.context, deps.objects, {
      tenantId: callerOf(context).tenantId,
      assetId: toUuid('asset', input.assetId),
      traceId: requestId,
    });
    return outcome.kind === 'REFUSED'
      ? { asset: null, userErrors: [uploadError.from(outcome)] }
      : { asset: new AssetType(outcome.asset), userErrors: [] };
  }
}
