import type { Attempt } from '../../../domain/attempt/attempt';
import type { Asset } from '../../../domain/output/asset';
import type { ExpiredOrphan, RepairStore } from '../../../ports/stores/repair-store';
import type { Database } from '../database';
import { run } from '../run-statement';

type Mismatch = Awaited<ReturnType<RepairStore['listHeldMismatches']>>[number];

export const createRepairStore = (db: Database): RepairStore => ({
  expireOrphans: (now, limit) => run<ExpiredOrphan>(db, 'expire-orphan-events', { now, limit }),
  listHeldMismatches: (limit) => run<Mismatch>(db, 'list-held-mismatches', { limit }),
  listUnbookedCosts: (before, limit) => run<Attempt>(db, 'list-unbooked-costs', { before, limit }),
  listRetentionOver: async (before, now, limit) =>
    (await run<{ id: string }>(db, 'list-retention-over', { before, now, limit })).map(
      ({ id }) => id,
    ),
  listRawToDeriveAgain: (before, limit) =>
    run<Asset>(db, 'list-raw-to-derive-again', { before: before.toISOString(), limit }),
  listObjectsWithoutOwner: async (keys, endedSince) =>
    (await run<{ key: string }>(db, 'list-objects-without-owner', { keys, endedSince })).map(
      ({ key }) => key,
    ),
  resolveNotSeen: async (kinds, since, now) => {
    await run(db, 'resolve-findings-not-seen-since', { kinds, since, now });
  },
  resolveMoved: async (now) => {
    await run(db, 'resolve-findings-of-moved-tasks', { now });
  },
});
