import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

import {
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  type S3Client,
} from '@aws-sdk/client-s3';
import express from 'express';

import { createIdSource } from '../../../src/adapters/ids/uuid-ids';
import { startVersitygw, type Versitygw } from '../../../cluster/servers/versitygw';
import {
  createS3ObjectStore,
  type S3ObjectStore,
  type S3StoreOptions,
} from '../../../src/adapters/object-store/s3/s3-object-store';
import { createSharedPrefixRoutes } from '../../../src/adapters/object-store/s3/shared-prefix-routes';

export interface RunningS3Store {
  readonly server: Versitygw;
  readonly store: S3ObjectStore;
  readonly client: S3Client;
  /** Unfinished uploads, and what the adapter keeps for itself of objects that are not there. */
  countLeftovers(): Promise<number>;
  /** Another adapter of the same bucket, as another process has it. */
  another(options?: Partial<S3StoreOptions>): S3ObjectStore;
  close(): Promise<void>;
}

/** A first run builds the server, which takes minutes. */
export const BUILD_MS = 900_000;

/** The adapter on a real server, and the routes of shared prefixes as the API mounts them. */
export const startS3Store = async (
  options: Partial<S3StoreOptions> = {},
  gateway: { readonly virtualDomain?: string } = {},
): Promise<RunningS3Store> => {
  const dir = await mkdtemp(path.join(tmpdir(), 's3-store-'));
  const server = await startVersitygw({ dir, ...gateway });
  const app = express();
  const http = createServer(app);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const signingKey = randomBytes(32);
  const made: S3ObjectStore[] = [];
  const another = (more: Partial<S3StoreOptions> = {}): S3ObjectStore => {
    const store = createS3ObjectStore({
      settings: {
        endpoint: server.url,
        publicEndpoint: null,
        region: server.region,
        bucket: server.bucket,
        accessKeyId: server.accessKeyId,
        secretAccessKey: server.secretAccessKey,
        addressing: 'path',
        encryption: null,
      },
      prefixBaseUrl: `http://127.0.0.1:${(http.address() as AddressInfo).port}/objects`,
      signingKey,
      clock: { now: () => new Date() },
      ids: createIdSource(),
      ...options,
      ...more,
    });
    made.push(store);
    return store;
  };
  const store = another();
  app.use('/objects', createSharedPrefixRoutes(store));
  const client = store.clients.inside;
  return {
    ...{ server, store, client, another },
    countLeftovers: async () => {
      const Bucket = server.bucket;
      const uploads = await client.send(new ListMultipartUploadsCommand({ Bucket }));
      const own = await client.send(new ListObjectsV2Command({ Bucket, Prefix: '~aivedio/' }));
      return (uploads.Uploads ?? []).length + (own.Contents ?? []).length;
    },
    close: async () => {
      for (const each of made) each.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await server.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
};
