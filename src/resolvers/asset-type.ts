import { Ctx, Field, ID, Int, ObjectType } from 'type-graphql';

import type { Asset, AssetKind, AssetStatus } from '../domain/output/asset';
import type { ApiContext } from './api-context';
import { connectionType } from './connection';
import { enumType } from './enum-type';
import { Node } from './node';
import { toPublicId } from './public-id';
import { DateTimeScalar, SafeIntScalar, UrlScalar } from './scalars';
import { signUrl } from './signed-url';

export const AssetKindEnum = enumType<AssetKind>('AssetKind', 'What an asset is.', {
  INPUT_IMAGE: 'An uploaded picture.',
  INPUT_VIDEO: 'An uploaded video.',
  RAW_OUTPUT: 'The file as the provider made it.',
  PROXY: 'An MP4 that plays everywhere and starts at once.',
  HLS: 'The same for adaptive streaming.',
  THUMBNAIL: 'A still picture.',
  STORYBOARD: 'Small pictures along the time line.',
  WAVEFORM: 'Peaks of the sound.',
});

export const AssetStatusEnum = enumType<AssetStatus>('AssetStatus', 'Where an asset stands.', {
  UPLOADING: 'Waits for the bytes, and for assetUploadComplete.',
  VALIDATING: 'The bytes are there and are being read.',
  PENDING: 'An output that is to be made.',
  PROCESSING: 'An output that is being made.',
  READY: 'May be used and played.',
  IN_REVIEW: 'Waits for a person.',
  REJECTED: 'Not accepted; `rejection` says why.',
  FAILED: 'Could not be made, or never arrived.',
  DELETED: 'Gone.',
});

@ObjectType({
  description: 'A URL that serves for a short while and is a secret as long as it does.',
})
export class SignedUrl {
  @Field(() => UrlScalar, { description: 'Serves GET and HEAD, with Range.' })
  url!: string;

  @Field(() => DateTimeScalar, { description: 'Ask again after this.' })
  expiresAt!: Date;
}

@ObjectType({ description: 'Why an asset was not accepted.' })
export class AssetRejection {
  @Field(() => String, { description: 'Stable, as UNSUPPORTED_TYPE or MODERATION_REJECTED.' })
  code!: string;

  @Field(() => String, { nullable: true, description: 'For people.' })
  detail!: string | null;
}

@ObjectType('Asset', {
  implements: Node,
  description: 'A media file: uploaded, made by a provider, or derived from either.',
})
export class AssetType extends Node {
  constructor(readonly asset: Asset) {
    super(toPublicId('asset', asset.id));
  }

  @Field(() => AssetKindEnum, { description: 'What it is.' })
  get kind(): AssetKind {
    return this.asset.kind;
  }

  @Field(() => AssetStatusEnum, { description: 'Only READY may be used and played.' })
  get status(): AssetStatus {
    return this.asset.status;
  }

  @Field(() => Int, { description: 'Rises with every change of the status.' })
  get version(): number {
    return this.asset.version;
  }

  @Field(() => String, { nullable: true, description: 'As the uploader named it.' })
  get fileName(): string | null {
    return this.asset.fileName;
  }

  @Field(() => String, {
    nullable: true,
    description: 'By its bytes once they were read, before that as declared.',
  })
  get contentType(): string | null {
    return this.asset.detectedMime ?? this.asset.declaredMime;
  }

  @Field(() => SafeIntScalar, { nullable: true, description: 'Bytes.' })
  get sizeBytes(): number | null {
    return this.asset.sizeBytes === null ? null : Number(this.asset.sizeBytes);
  }

  @Field(() => String, { nullable: true, description: 'SHA-256 of the bytes, in hex.' })
  get sha256(): string | null {
    return this.asset.sha256;
  }

  @Field(() => Int, { nullable: true, description: 'Pixels, as shown.' })
  get width(): number | null {
    return this.asset.width;
  }

  @Field(() => Int, { nullable: true, description: 'Pixels, as shown.' })
  get height(): number | null {
    return this.asset.height;
  }

  @Field(() => Int, { nullable: true, description: 'Milliseconds; null for a picture.' })
  get durationMs(): number | null {
    return this.asset.durationMs;
  }

  @Field(() => ID, { nullable: true, description: 'The generation that made it.' })
  get generationId(): string | null {
    return this.asset.taskId === null ? null : toPublicId('generation', this.asset.taskId);
  }

  @Field(() => ID, { nullable: true, description: 'The attempt whose output it is.' })
  get attemptId(): string | null {
    return this.asset.attemptId === null ? null : toPublicId('attempt', this.asset.attemptId);
  }

  @Field(() => ID, { nullable: true, description: 'The asset that it was derived from.' })
  get derivedFromId(): string | null {
    return this.asset.parentAssetId === null ? null : toPublicId('asset', this.asset.parentAssetId);
  }

  @Field(() => ID, { nullable: true, description: 'The project it belongs to.' })
  get projectId(): string | null {
    return this.asset.projectId === null ? null : toPublicId('project', this.asset.projectId);
  }

  @Field(() => AssetRejection, { nullable: true, description: 'Only of a REJECTED asset.' })
  get rejection(): AssetRejection | null {
    const { rejectionCode: code, rejectionDetail: detail } = this.asset;
    return code === null ? null : { code, detail };
  }

  @Field(() => SignedUrl, {
    nullable: true,
    description: 'Where to fetch it; null unless READY. For HLS: the playlist to open.',
  })
  async playback(@Ctx() context: ApiContext): Promise<SignedUrl | null> {
    return this.asset.status === 'READY' ? signUrl(context.deps, this.asset) : null;
  }

  @Field(() => DateTimeScalar, { description: 'When the upload was opened or the output begun.' })
  get createdAt(): Date {
    return this.asset.createdAt;
  }

  @Field(() => DateTimeScalar, { description: 'The latest change.' })
  get updatedAt(): Date {
    return this.asset.updatedAt;
  }
}

export const AssetConnection = connectionType('Asset', () => AssetType);
