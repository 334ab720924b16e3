import path from 'node:path';

import { createDiskObjectStore } from '../../adapters/object-store/disk/disk-object-store';
import { createFolderHealth } from '../../adapters/object-store/disk/folder-health';
import type { Clock } from '../../ports/clock';
import type { ObjectStore } from '../../ports/object-store';
import type { Config } from '../config';
import type { HealthChecks } from '../health/health-checks';
import { deriveKey, type ResolvedSecrets } from '../secrets';

export interface WiredObjects {
  /** Its URLs are for clients. */
  readonly objects: ObjectStore;
  /** The same store; its URLs are for providers, who may see another address. */
  readonly providerFacing: ObjectStore;
  /** The store on this disk, whose signed URLs the API serves itself; null where objects are served elsewhere. */
  readonly disk: ReturnType<typeof createDiskObjectStore> | null;
  /** Removes what crashed writes left behind; answers how many. */
  readonly sweepTemporary: (olderThan: Date) => Promise<number>;
}

/** Object storage, as the configuration says. */
export const wireObjects = (options: {
  readonly config: Config;
  readonly secrets: ResolvedSecrets;
  readonly clock: Clock;
  readonly health: HealthChecks;
}): WiredObjects => {
  const { config, secrets, clock, health } = options;
  const root = path.join(config.dataDir, 'objects');
  health.add({ name: 'objects', weight: 'DEGRADING', check: createFolderHealth(root) });
  const at = (publicBaseUrl: string) =>
    createDiskObjectStore({
      root,
      publicBaseUrl: `${publicBaseUrl}/objects`,
      signingKey: deriveKey(secrets.signingSecret, 'object-urls'),
      clock,
    });
  const objects = at(config.publicUrl);
  return {
    objects,
    providerFacing: at(config.providerFacingUrl),
    disk: objects,
    sweepTemporary: (olderThan) => objects.sweepTemporary(olderThan),
  };
};
