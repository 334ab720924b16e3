import { refuse, type Refusal } from '../generation/refusals';
import type { AssetKind } from './asset';

export const UPLOAD_REFUSALS = [
  'ASSET_NOT_FOUND',
  'UPLOAD_EXPIRED',
  'UPLOAD_ABORTED',
  'UPLOAD_COMPLETED',
  'UPLOAD_NOT_IN_PARTS',
  'UPLOAD_INCOMPLETE',
  'UPLOAD_SIZE_MISMATCH',
  'UPLOAD_CHECKSUM_MISMATCH',
  'PART_SIZE_INVALID',
  'PART_NUMBER_INVALID',
  'TOO_MANY_PARTS',
  'PART_MISSING',
  'PART_ETAG_MISMATCH',
  'PART_TOO_SMALL',
  'PART_TOO_LARGE',
  'EMPTY_FILE',
  'FILE_TOO_LARGE',
  'UNSUPPORTED_TYPE',
  'CHECKSUM_INVALID',
  'FILE_NAME_INVALID',
  'PROJECT_NOT_FOUND',
  'TENANT_PAUSED',
] as const;
export type UploadRefusal = (typeof UPLOAD_REFUSALS)[number];

/** In one PUT, in one form of a page, or in parts. */
export const UPLOAD_METHODS = ['PUT', 'POST', 'PARTS'] as const;
export type UploadMethod = (typeof UPLOAD_METHODS)[number];

const KIND_OF_TYPE: Readonly<Record<string, AssetKind>> = {
  'image/jpeg': 'INPUT_IMAGE',
  'image/png': 'INPUT_IMAGE',
  'image/webp': 'INPUT_IMAGE',
  'video/mp4': 'INPUT_VIDEO',
  'video/webm': 'INPUT_VIDEO',
  'video/quicktime': 'INPUT_VIDEO',
};

export const UPLOAD_TYPES = Object.keys(KIND_OF_TYPE);

export interface UploadInput {
  readonly fileName: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

/** What is asked to be uploaded, judged before a key is made. The declared type is only a claim: the bytes decide later. */
export const judgeUpload = (
  input: UploadInput,
  sizeBytesMax: bigint,
): { readonly kind: 'OK'; readonly assetKind: AssetKind } | Refusal<UploadRefusal> => {
  const assetKind = KIND_OF_TYPE[input.contentType];
  if (assetKind === undefined) {
    return refuse('UNSUPPORTED_TYPE', `Upload one of ${UPLOAD_TYPES.join(', ')}.`, 'contentType');
  }
  if (!Number.isSafeInteger(input.sizeBytes) || input.sizeBytes <= 0) {
    return refuse('EMPTY_FILE', 'The file has no bytes.', 'sizeBytes');
  }
  if (BigInt(input.sizeBytes) > sizeBytesMax) {
    return refuse('FILE_TOO_LARGE', `A file may have at most ${sizeBytesMax} bytes.`, 'sizeBytes');
  }
  if (!/^[0-9a-f]{64}$/.test(input.sha256)) {
    return refuse('CHECKSUM_INVALID', 'Send the SHA-256 of the file as 64 hex digits.', 'sha256');
  }
  const name = [...input.fileName];
  if (name.length === 0 || name.length > 255 || name.some(isControl)) {
    return refuse('FILE_NAME_INVALID', 'A file name has 1 to 255 printable characters.', 'fileName');
  }
  return { kind: 'OK', assetKind };
};

const isControl = (character: string): boolean => (character.codePointAt(0) ?? 0) < 32;
