import { S3Client } from '@aws-sdk/client-s3';

export interface S3Settings {
  /** Where this process reaches the store; null: the region's own address at AWS. */
  readonly endpoint: string | null;
  /** Where clients and providers reach it; stands in every signed URL. */
  readonly publicEndpoint: string | null;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** `path`: endpoint/bucket/key. `virtual`: bucket.endpoint/key, which AWS and R2 prefer. */
  readonly addressing: 'path' | 'virtual';
  /** `AES256`, `aws:kms`, or `aws:kms:<key id>`; null: as the bucket itself says. */
  readonly encryption: string | null;
}

export interface S3Clients {
  readonly inside: S3Client;
  /** Only signs; it never connects. */
  readonly outside: S3Client;
  close(): void;
}

const CONNECT_TIMEOUT_MS = 2_000;
/** A connection on which nothing moves for so long is given up. */
const IDLE_TIMEOUT_MS = 15_000;
const ATTEMPTS_MAX = 3;
const SOCKETS_MAX = 64;

export const openS3Clients = (
  settings: S3Settings,
  { attemptsMax = ATTEMPTS_MAX, idleTimeoutMs = IDLE_TIMEOUT_MS } = {},
): S3Clients => {
  const client = (endpoint: string | null): S3Client =>
    new S3Client({
      ...(endpoint === null ? {} : { endpoint }),
      region: settings.region,
      forcePathStyle: settings.addressing === 'path',
      credentials: {
        accessKeyId: settings.accessKeyId,
        secretAccessKey: settings.secretAccessKey,
      },
      maxAttempts: attemptsMax,
      // The default adds a CRC to every body, which older stores refuse; bodies are covered by the signature anyway.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: CONNECT_TIMEOUT_MS,
        socketTimeout: idleTimeoutMs,
        httpAgent: { keepAlive: true, maxSockets: SOCKETS_MAX },
        httpsAgent: { keepAlive: true, maxSockets: SOCKETS_MAX },
        // More callers than sockets wait for one; that is no fault worth a line on the console.
        socketAcquisitionWarningTimeout: 60_000,
      },
    });
  const inside = client(settings.endpoint);
  const outside =
    settings.publicEndpoint === null || settings.publicEndpoint === settings.endpoint
      ? inside
      : client(settings.publicEndpoint);
  return {
    inside,
    outside,
    close: () => {
      inside.destroy();
      if (outside !== inside) outside.destroy();
    },
  };
};

/** What a request that writes says about encryption. */
export const encryptionOf = (
  encryption: string | null,
): { ServerSideEncryption?: 'AES256' | 'aws:kms'; SSEKMSKeyId?: string } => {
  if (encryption === null) return {};
  if (encryption === 'AES256') return { ServerSideEncryption: 'AES256' };
  const keyId = /^aws:kms:(.+)$/.exec(encryption)?.[1];
  return {
    ServerSideEncryption: 'aws:kms',
    ...(keyId === undefined ? {} : { SSEKMSKeyId: keyId }),
  };
};
