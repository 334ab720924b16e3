import path from 'node:path';

import { createDiskObjectStore } from '../../adapters/object-store/disk/disk-object-store';
import { createFolderHealth } from '../../adapters/object-store/disk/folder-health';
import {
  deferS3Store,
  type DeferredS3Store,
} from '../../adapters/object-store/s3/deferred-s3-store';
import { QUARANTINE_PREFIX } from '../../domain/output/object-keys';
import type { Clock } from '../../ports/clock';
import type { IdSource } from '../../ports/ids';
import type { Log } from '../../ports/log';
import type { ObjectStore } from '../../ports/object-store';
import { openBucketAdministration } from '../bucket-administration';
import { ConfigError, type Config } from '../config';
import type { HealthChecks } from '../health/health-checks';
import { deriveKey, type ResolvedSecrets } from '../secrets';

export interface WiredObjects {
  /** Its URLs are for clients. */
  readonly objects: ObjectStore;
  /** The same store; its URLs are for providers, who may see another address. */
  readonly providerFacing: ObjectStore;
  /** The store on this disk, whose signed URLs the API serves itself; null where objects are served elsewhere. */
  readonly disk: ReturnType<typeof createDiskObjectStore> | null;
  /** The store on S3, for whose shared prefixes the API answers; null where there is none. */
  readonly s3: DeferredS3Store | null;
  /** Removes what crashed writes left behind; answers how many. */
  readonly sweepTemporary: (olderThan: Date) => Promise<number>;
  /** Throws a ConfigError when the store serves nothing as it is set up; what may pass is a line in the log. */
  checkAtStart(): Promise<void>;
  close(): Promise<void>;
}

interface WireOptions {
  readonly config: Config;
  readonly secrets: ResolvedSecrets;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Log;
  readonly health: HealthChecks;
}

const STRAYS_TOLD_MAX = 100;

/** Object storage, as the configuration says. */
export const wireObjects = (options: WireOptions): WiredObjects =>
  options.config.objectStore.s3 === null
    ? wireDisk(options)
    : wireS3(options, options.config.objectStore.s3);

const wireDisk = ({ config, secrets, clock, health, log }: WireOptions): WiredObjects => {
  const root = path.join(config.dataDir, 'objects');
  health.add({ name: 'objects', weight: 'DEGRADING', check: createFolderHealth(root) });
  const told = new Set<string>();
  const onStray = (stray: string): void => {
    // Sweeps list again and again: each is told once, and memory stays small whatever lies there.
    if (told.has(stray) || told.size >= STRAYS_TOLD_MAX) return;
    told.add(stray);
    log.warn('No object of ours lies there; listings go past it', { path: stray });
  };
  const at = (publicBaseUrl: string) =>
    createDiskObjectStore({
      root,
      publicBaseUrl: `${publicBaseUrl}/objects`,
      signingKey: deriveKey(secrets.signingSecret, 'object-urls'),
      clock,
      onStray,
    });
  const objects = at(config.publicUrl);
  return {
    objects,
    providerFacing: at(config.providerFacingUrl),
    disk: objects,
    s3: null,
    sweepTemporary: (olderThan) => objects.sweepTemporary(olderThan),
    checkAtStart: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
};

const wireS3 = (
  { config, secrets, clock, ids, log, health }: WireOptions,
  settings: NonNullable<Config['objectStore']['s3']>,
): WiredObjects => {
  const s3 = deferS3Store({
    settings,
    prefixBaseUrl: `${config.publicUrl}/objects`,
    signingKey: deriveKey(secrets.signingSecret, 'object-urls'),
    clock,
    ids,
  });
  health.add({
    name: 'objects',
    weight: 'DEGRADING',
    check: () => s3.opened().health(),
  });
  return {
    objects: s3.objects,
    // Providers see the public address of the store, as clients do.
    providerFacing: s3.objects,
    disk: null,
    s3,
    sweepTemporary: (olderThan) => s3.opened().sweepTemporary(olderThan, QUARANTINE_PREFIX),
    checkAtStart: async () => {
      const { problems } = await openBucketAdministration(config, clock).look();
      const line = ({ variable, says }: (typeof problems)[number]) => `${variable}: ${says}`;
      const refusals = problems.filter(({ kind }) => kind === 'REFUSED');
      if (refusals.length > 0) throw new ConfigError(refusals.map(line));
      for (const each of problems) log.warn(line(each));
    },
    close: () => Promise.resolve(s3.close()),
  };
};
