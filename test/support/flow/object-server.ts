import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

import express from 'express';

import {
  createDiskObjectStore,
  type DiskObjectStore,
} from '../../../src/adapters/object-store/disk/disk-object-store';
import { createDiskStoreRoutes } from '../../../src/adapters/object-store/disk/disk-store-routes';
import type { Clock } from '../../../src/ports/clock';

export interface ObjectServer {
  readonly store: DiskObjectStore;
  /** For scratch space; removed with the store. */
  readonly tempDir: string;
  close(): Promise<void>;
}

/** The disk store in a temporary folder, its signed URLs served on loopback as in the product. */
export const startObjectServer = async (clock: Clock): Promise<ObjectServer> => {
  const root = await mkdtemp(path.join(tmpdir(), 'aivedio-flow-'));
  const app = express();
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const store = createDiskObjectStore({
    root: path.join(root, 'objects'),
    publicBaseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/objects`,
    signingKey: Buffer.alloc(32, 'flow'),
    clock,
  });
  app.use('/objects', createDiskStoreRoutes(store));
  return {
    store,
    tempDir: path.join(root, 'temp'),
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await rm(root, { recursive: true, force: true });
    },
  };
};
