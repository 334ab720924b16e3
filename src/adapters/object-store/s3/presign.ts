import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';

import type { ObjectStore, UploadTicket } from '../../../ports/object-store';
import { encryptionOf, type S3Clients, type S3Settings } from './s3-client';

type Life = { readonly now: Date; readonly expiresAt: Date };

/** The longest life that a signature of this kind can have. */
const SECONDS_MAX = 7 * 86_400;

export const validity = ({ now, expiresAt }: Life) => ({
  signingDate: now,
  expiresIn: Math.min(
    SECONDS_MAX,
    Math.max(1, Math.floor((expiresAt.getTime() - now.getTime()) / 1000)),
  ),
});

/**
 * A PUT of exactly these bytes. What is signed as a header must be sent as one: a checksum that stands in the URL is not
 * looked at by every store, and the SDK signs no length unless told.
 */
export const presignPut = async (
  clients: S3Clients,
  settings: S3Settings,
  key: string,
  options: Parameters<ObjectStore['presignPut']>[1],
): Promise<UploadTicket> => {
  const checksum = Buffer.from(options.sha256, 'hex').toString('base64');
  const encryption = encryptionOf(settings.encryption);
  const headers: Record<string, string> = {
    'content-type': options.contentType,
    'x-amz-checksum-sha256': checksum,
    'x-amz-meta-sha256': options.sha256,
    ...(encryption.ServerSideEncryption === undefined
      ? {}
      : { 'x-amz-server-side-encryption': encryption.ServerSideEncryption }),
    ...(encryption.SSEKMSKeyId === undefined
      ? {}
      : { 'x-amz-server-side-encryption-aws-kms-key-id': encryption.SSEKMSKeyId }),
  };
  const url = await getSignedUrl(
    clients.outside,
    new PutObjectCommand({
      Bucket: settings.bucket,
      Key: key,
      ContentType: options.contentType,
      ContentLength: options.sizeBytes,
      ChecksumSHA256: checksum,
      Metadata: { sha256: options.sha256 },
      ...encryption,
    }),
    {
      ...validity(options),
      signableHeaders: new Set([...Object.keys(headers), 'content-length', 'host']),
      unhoistableHeaders: new Set(Object.keys(headers)),
    },
  );
  // The length is not listed: a browser sends it by itself and forbids setting it.
  return { url, method: 'PUT', headers, expiresAt: options.expiresAt };
};

export const presignGet = (
  clients: S3Clients,
  settings: S3Settings,
  key: string,
  options: Parameters<ObjectStore['presignGet']>[1],
): Promise<string> =>
  getSignedUrl(
    clients.outside,
    new GetObjectCommand({
      Bucket: settings.bucket,
      Key: key,
      ...(options.downloadName === undefined
        ? {}
        : { ResponseContentDisposition: disposition(options.downloadName) }),
    }),
    validity(options),
  );

/** A signature is for one method: HEAD needs a URL of its own. */
export const presignHead = (
  clients: S3Clients,
  settings: S3Settings,
  key: string,
  life: Life,
): Promise<string> =>
  getSignedUrl(
    clients.outside,
    new HeadObjectCommand({ Bucket: settings.bucket, Key: key }),
    validity(life),
  );

const disposition = (name: string): string => {
  const escaped = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename*=UTF-8''${escaped}`;
};
