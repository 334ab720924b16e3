import { isTerminal } from '../../domain/generation/statuses';
import type { Task } from '../../domain/generation/task';
import type { Asset, AssetStatus } from '../../domain/output/asset';
import { topics } from '../../flow/notify/announce-change';
import type { Log } from '../../ports/log';
import type { PubSub } from '../../ports/pub-sub';
import type { ReadModel } from '../../ports/read-model';
import { createDoorbells } from './doorbells';
import type { Mailbox } from './mailbox';
import { RowFeed } from './row-feed';
import { TenantFeed } from './tenant-feed';

const FINAL_ASSET_STATUSES: readonly AssetStatus[] = ['READY', 'REJECTED', 'FAILED', 'DELETED'];

/** What this process follows for its subscribers. Postgres says what is true; messages only say when to look. */
export interface LiveFeeds {
  followGeneration(task: Task): Mailbox<Task>;
  followAsset(asset: Asset): Mailbox<Asset>;
  followGenerationsOf(tenantId: string): Mailbox<Task>;
  /** How much is followed and listened to; all 0 when nobody subscribes. */
  counts(): { readonly rows: number; readonly tenants: number; readonly topics: number };
  /** Reads nothing more; resolves when no read is under way. */
  close(): Promise<void>;
}

/** Progress and waiting change without a version. */
const signatureOfTask = (task: Task): string =>
  `${task.version}:${task.progress}:${task.waitReason ?? ''}`;

/** @param lookMs how often all followed rows are read without a message; costs nothing while there are none. */
export const createLiveFeeds = (options: {
  readonly reads: ReadModel;
  readonly pubSub: PubSub;
  readonly log: Log;
  readonly lookMs: number;
}): LiveFeeds => {
  const { reads, pubSub, log, lookMs } = options;
  const doorbells = createDoorbells(pubSub, log);
  const generations = new RowFeed<Task>({
    topicOf: topics.generation,
    read: (keys) => reads.readLiveTasks(keys),
    signatureOf: signatureOfTask,
    isFinal: ({ status }) => isTerminal(status),
    doorbells,
    log,
  });
  const assets = new RowFeed<Asset>({
    topicOf: topics.asset,
    read: (keys) => reads.readLiveAssets(keys),
    signatureOf: ({ version }) => String(version),
    isFinal: ({ status }) => FINAL_ASSET_STATUSES.includes(status),
    doorbells,
    log,
  });
  const tenants = new TenantFeed({ reads, doorbells, log, signatureOf: signatureOfTask });
  const timer = setInterval(() => {
    for (const feed of [generations, assets, tenants]) feed.lookAtAll();
  }, lookMs);
  timer.unref();
  return {
    followGeneration: (task) => generations.follow(task),
    followAsset: (asset) => assets.follow(asset),
    followGenerationsOf: (tenantId) => tenants.follow(tenantId),
    counts: () => ({
      rows: generations.size + assets.size,
      tenants: tenants.size,
      topics: doorbells.size,
    }),
    close: async () => {
      clearInterval(timer);
      await Promise.all([generations, assets, tenants].map((feed) => feed.close()));
    },
  };
};
