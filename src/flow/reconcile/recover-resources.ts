import { crashpoint } from '../../ports/crash-points';
import type { ObjectStore } from '../../ports/object-store';
import { SlotsUnavailableError, type Slots } from '../../ports/slots';
import { listSlotHolders } from '../schedule/list-slot-holders';
import type { UploadSession } from '../../ports/stores/asset-store';
import type { PartitionStore } from '../../ports/stores/operations-store';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';
import { requestObservation } from '../observe/request-observation';
import { removeBytes } from '../upload/abort-upload';

const BATCH = 100;

/** The reducer has an event before this; what is younger is simply on its way. */
const ORPHAN_AGE_MS_MIN = 2_000;

/**
 * Provider events that came before their attempt's job id was known, and whose attempt exists by now; answers a function
 * for the loop. An event is asked for again after twice its last wait: a reducer that is behind must not be given more.
 */
export const createOrphanMatcher = (context: FlowContext): (() => Promise<number>) => {
  let askedAt = new Map<string, { readonly atMs: number; readonly waitMs: number }>();
  return async () => {
    const orphans = await context.uow.stores.providerEvents.listMatchableOrphans(BATCH);
    const nowMs = context.clock.now().getTime();
    const kept = new Map<string, { readonly atMs: number; readonly waitMs: number }>();
    let asked = 0;
    for (const { id, receivedAt } of orphans) {
      const last = askedAt.get(id);
      const dueMs =
        last === undefined ? receivedAt.getTime() + ORPHAN_AGE_MS_MIN : last.atMs + last.waitMs;
      if (nowMs < dueMs) {
        if (last !== undefined) kept.set(id, last);
        continue;
      }
      await context.uow.transact(async (tx) => {
        const now = context.clock.now();
        const type = 'provider.status.observed';
        const waits = (await tx.outbox.publishAgain([id], type, 'reducer', now)) !== null;
        if (!waits) await requestObservation(context, tx, id, null);
        crashpoint('reconcile.after_orphan_asked_before_commit');
      });
      kept.set(id, { atMs: nowMs, waitMs: (last?.waitMs ?? ORPHAN_AGE_MS_MIN) * 2 });
      asked += 1;
    }
    askedAt = kept;
    return asked;
  };
};

/** Slots made equal to the attempts that may have a living job: leaks end, a flushed store is filled again. */
export const rebuildSlots = async (context: FlowContext, slots: Slots): Promise<number> => {
  const { stores } = context.uow;
  const holders = await listSlotHolders(context);
  const now = context.clock.now();
  const changed = await slots
    .rebuild(holders, context.settings.slotTtlMs, now)
    .catch((error: unknown) => {
      if (!(error instanceof SlotsUnavailableError)) throw error;
      context.log.warn('slots cannot be compared with the attempts', { error: error.message });
      return null;
    });
  if (changed === null) return 0;
  const { removed: leaked, added: missing, overGranted } = changed;
  const drift = leaked + missing + overGranted.length;
  if (drift > 0) {
    crashpoint('slot.after_rebuild_before_finding');
    await stores.findings.record({
      id: context.ids.next(now),
      kind: 'SLOT_DRIFT',
      subjectKind: 'slot',
      subjectId: now.toISOString().slice(0, 13),
      tenantId: null,
      detail: { leaked, missing, overGranted },
      actionTaken: 'rebuilt from attempts',
      now,
    });
  }
  return drift;
};

/** Uploads whose client walked away: closed, their bytes removed. */
export const sweepUploads = async (context: FlowContext, objects: ObjectStore): Promise<number> => {
  const now = context.clock.now();
  const expired = await context.uow.stores.assets.listExpiredUploads(now, BATCH);
  let swept = 0;
  for (const session of expired) {
    const closed = await context.uow.transact(async (tx) => {
      const asset = await tx.assets.lock(session.assetId);
      if (!(await tx.assets.closeUpload(session.id, 'EXPIRED', now))) return false;
      if (asset?.status === 'UPLOADING') {
        await tx.assets.patch(
          asset,
          'FAILED',
          { rejectionCode: 'UPLOAD_EXPIRED', quarantineKey: null },
          now,
        );
      }
      await recordStale(context, tx, session, now);
      return true;
    });
    if (!closed) continue;
    crashpoint('upload.after_expiry_before_delete');
    await removeBytes(objects, session.quarantineKey);
    swept += 1;
  }
  return swept;
};

/** Over with its closing; should the bytes outlive a crash, the sweep of orphans finds them. */
const recordStale = async (
  context: FlowContext,
  tx: Stores,
  { assetId, tenantId, expiresAt, declaredSizeBytes }: UploadSession,
  now: Date,
): Promise<void> => {
  await tx.findings.record({
    id: context.ids.next(now),
    kind: 'STALE_UPLOAD',
    subjectKind: 'asset',
    subjectId: assetId,
    tenantId,
    detail: {
      expiredAt: expiresAt.toISOString(),
      declaredSizeBytes: declaredSizeBytes.toString(),
    },
    actionTaken: 'closed; its bytes go',
    now,
  });
  await tx.findings.resolveOf('STALE_UPLOAD', [assetId], 'reconciler', 'closed', now);
};

/** Rejected uploads that no person has released in time: their bytes go, the rows stay. */
export const sweepQuarantine = async (
  context: FlowContext,
  objects: Pick<ObjectStore, 'delete'>,
): Promise<number> => {
  const before = new Date(context.clock.now().getTime() - context.settings.quarantineKeepMs);
  const kept = await context.uow.stores.assets.listQuarantined(before, BATCH);
  for (const { id, quarantineKey } of kept) {
    // The bytes first: a row that still names them after a crash brings the sweep back.
    if (quarantineKey !== null) await objects.delete(quarantineKey);
    await context.uow.transact(async (tx) => {
      const asset = await tx.assets.lock(id);
      if (asset?.status !== 'REJECTED') return;
      await tx.assets.patch(asset, 'REJECTED', { quarantineKey: null }, context.clock.now());
    });
  }
  return kept.length;
};

/** Uploads that were completed and never judged: their validation is asked for again. */
export const rescueValidations = async (context: FlowContext): Promise<number> => {
  const now = context.clock.now();
  const before = new Date(now.getTime() - context.settings.stuckAfterMs);
  const stuck = await context.uow.stores.assets.listStuckValidations(before, BATCH);
  let asked = 0;
  for (const seen of stuck) {
    const again = await context.uow.transact(async (tx) => {
      const asset = await tx.assets.lock(seen.id);
      if (asset?.status !== 'VALIDATING' || asset.updatedAt >= before) return false;
      // Touched, so that it is not asked for again with every look.
      const touched = await tx.assets.patch(asset, 'VALIDATING', {}, now);
      await tx.outbox.add(
        {
          type: 'asset',
          id: asset.id,
          version: touched.version,
          tenantId: asset.tenantId,
          traceId: asset.id,
          causationId: 'reconciler',
        },
        [
          {
            eventId: context.ids.next(now),
            type: 'asset.validation.requested',
            payload: { assetId: asset.id },
            availableAt: now,
          },
        ],
        now,
      );
      return true;
    });
    if (again) asked += 1;
  }
  return asked;
};

/** Keeps partitions ahead of the clock and drops days past their retention. */
export const keepPartitions = async (
  context: FlowContext,
  partitions: PartitionStore,
  retentionDays: number,
): Promise<number> => {
  const now = context.clock.now();
  const made = await partitions.ensureDays(now, 4);
  const dropped = await partitions.dropBefore(new Date(now.getTime() - retentionDays * 86_400_000));
  return made + dropped;
};
