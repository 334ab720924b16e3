import { ArrayMaxSize, MaxLength } from 'class-validator';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';

import { PARTS_MAX } from '../domain/output/part-plan';
import type { UploadMethod, UploadRefusal } from '../domain/output/upload-rules';
import type { UploadTicket } from '../ports/object-store';
import { AssetType } from './asset-type';
import { enumType } from './enum-type';
import { DateTimeScalar, SafeIntScalar, UrlScalar } from './scalars';
import { userErrorType } from './user-error';

const AssetUploadErrorCode = enumType<UploadRefusal>(
  'AssetUploadErrorCode',
  'Why an upload was refused.',
  {
    ASSET_NOT_FOUND: 'There is no such upload.',
    UPLOAD_EXPIRED: 'Its time is over; open a new one.',
    UPLOAD_ABORTED: 'It was aborted; open a new one.',
    UPLOAD_COMPLETED: 'It was completed, and takes no more parts.',
    UPLOAD_NOT_IN_PARTS: 'It takes its bytes in one piece.',
    UPLOAD_INCOMPLETE: 'The bytes have not arrived.',
    UPLOAD_SIZE_MISMATCH: 'The bytes are not as many as declared.',
    UPLOAD_CHECKSUM_MISMATCH: 'The bytes are others than declared.',
    PART_SIZE_INVALID: 'Parts have 5 to 512 MiB.',
    PART_NUMBER_INVALID: 'There is no such part, or it was named twice.',
    TOO_MANY_PARTS: 'More parts than a file may have, or than are signed at once.',
    PART_MISSING: 'A part is not named, or has not arrived.',
    PART_ETAG_MISMATCH: 'The part that arrived is another than the one named.',
    PART_TOO_SMALL: 'A part has fewer bytes than its place needs.',
    PART_TOO_LARGE: 'A part has more bytes than its place needs.',
    EMPTY_FILE: 'A file has bytes.',
    FILE_TOO_LARGE: 'Larger than the account allows.',
    UNSUPPORTED_TYPE: 'Not a type that can be used.',
    CHECKSUM_INVALID: 'Not a SHA-256 in hex.',
    FILE_NAME_INVALID: 'Empty, too long, or with control characters.',
    PROJECT_NOT_FOUND: 'There is no such project.',
    TENANT_PAUSED: 'The account is paused.',
  },
);

export const uploadError = userErrorType(
  'AssetUploadError',
  AssetUploadErrorCode,
  'Why an upload was refused.',
);
export type AssetUploadError = ReturnType<typeof uploadError.from>;

export type OfferedMethod = Exclude<UploadMethod, 'POST'>;
export const AssetUploadMethod = enumType<OfferedMethod>(
  'AssetUploadMethod',
  'How the bytes of an upload are sent.',
  {
    PUT: 'One PUT with all of them.',
    PARTS:
      'In parts, several at once, each again as often as it fails; for large files and poor lines.',
  },
);

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

  @Field(() => AssetUploadMethod, { defaultValue: 'PUT', description: 'How they will be sent.' })
  method!: OfferedMethod;

  @Field(() => SafeIntScalar, {
    nullable: true,
    description:
      'Of PARTS: bytes of each part but the last, 5 to 512 MiB; without it 8 MiB, or more where the file would have over 1,000 parts.',
  })
  partSizeBytes?: number | null;
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

@ObjectType({
  description: 'How to cut the file: assetUploadPartsSign answers a URL for each of these parts.',
})
export class UploadPlanType {
  @Field(() => SafeIntScalar, { description: 'Bytes of each part but the last.' })
  partSizeBytes!: number;

  @Field(() => Int, { description: 'Parts are numbered from 1 to this.' })
  partCount!: number;

  @Field(() => DateTimeScalar, { description: 'What is not completed by then is removed.' })
  expiresAt!: Date;
}

@ObjectType({ description: 'Answer of assetUploadCreate.' })
export class AssetUploadCreatePayload {
  @Field(() => AssetType, { nullable: true, description: 'The asset, UPLOADING.' })
  asset!: AssetType | null;

  @Field(() => UploadTicketType, {
    nullable: true,
    description: 'Of PUT: where to send the bytes.',
  })
  upload!: UploadTicketType | null;

  @Field(() => UploadPlanType, { nullable: true, description: 'Of PARTS: how to cut the file.' })
  parts!: UploadPlanType | null;

  @Field(() => [uploadError.type], { description: 'Empty when it was done.' })
  userErrors!: readonly AssetUploadError[];
}

@InputType({ description: 'A part that was sent.' })
export class UploadPartInput {
  @Field(() => Int, { description: 'From 1.' })
  number!: number;

  @Field(() => String, { description: 'The ETag header of the answer to its PUT.' })
  @MaxLength(256)
  etag!: string;
}

@InputType({ description: 'Which upload is done.' })
export class AssetUploadCompleteInput {
  @Field(() => ID, { description: 'Of the asset that assetUploadCreate answered.' })
  assetId!: string;

  @Field(() => [UploadPartInput], { nullable: true, description: 'Of PARTS: all of them.' })
  @ArrayMaxSize(PARTS_MAX)
  parts?: UploadPartInput[] | null;
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

export const toTicket = ({ url, method, headers, expiresAt }: UploadTicket): UploadTicketType => ({
  ...{ url, method, expiresAt },
  headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
});
