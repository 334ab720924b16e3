import { refuse, type Refusal } from '../../domain/generation/refusals';
import { isBlank } from '../../domain/kernel/is-blank';
import type { Asset } from '../../domain/output/asset';
import type { ObjectStore } from '../../ports/object-store';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';
import { act, done, type Acted, type Done, type OperatorOrder } from './operator-action';

export type ReleaseRefusal =
  'NOT_IN_QUARANTINE' | 'STILL_VALIDATING' | 'UNREADABLE' | 'BYTES_GONE' | 'CHECKSUM_MISMATCH';

/** Far beyond any validation and its repeats: what has no verdict by then waits for a person. */
const VALIDATION_MS_MAX = 30 * 60_000;

/**
 * Lets an upload out of quarantine that was rejected by mistake, or whose validation never ends. The bytes are copied to the
 * consumable key as the validator does, and must be the ones that were declared. What the validator had found in them stays
 * with the asset; the person answers for the rest.
 */
export const releaseQuarantine = async (
  context: FlowContext,
  objects: Pick<ObjectStore, 'copy' | 'prove' | 'delete'>,
  assetId: string,
  order: OperatorOrder,
): Promise<Acted<Asset, ReleaseRefusal>> => {
  const seen = await context.uow.stores.assets.read(assetId);
  const refusal = seen === null ? null : await bringOut(context, objects, seen, order);
  const acted = await act(
    context,
    'asset.release',
    order,
    async (tx) => {
      const asset = await tx.assets.lock(assetId);
      if (asset === null) return null;
      const { status, rejectionCode, quarantineKey } = asset;
      return {
        kind: 'ASSET',
        id: asset.id,
        tenantId: asset.tenantId,
        before: { status, rejectionCode, inQuarantine: quarantineKey !== null },
        row: asset,
      };
    },
    async (tx, asset) =>
      judge(context, asset) ?? refusal ?? (await commit(context, tx, asset, order)),
  );
  if (acted.kind === 'DONE' && seen?.quarantineKey != null) {
    await objects.delete(seen.quarantineKey);
  }
  return acted;
};

const judge = (context: FlowContext, asset: Asset): Refusal<ReleaseRefusal> | null => {
  const { status, quarantineKey, createdAt } = asset;
  if (quarantineKey === null) {
    return status === 'REJECTED'
      ? refuse('BYTES_GONE', 'Its bytes are not kept any more.', 'assetId')
      : refuse('NOT_IN_QUARANTINE', `The asset is ${status}.`, 'assetId');
  }
  if (status === 'REJECTED') {
    return asset.detectedMime === null
      ? refuse('UNREADABLE', 'No tool can read it: it is no use to anybody.', 'assetId')
      : null;
  }
  if (status !== 'VALIDATING') {
    return refuse('NOT_IN_QUARANTINE', `The asset is ${status}.`, 'assetId');
  }
  return context.clock.now().getTime() - createdAt.getTime() > VALIDATION_MS_MAX
    ? null
    : refuse('STILL_VALIDATING', 'Its validation may be under way.', 'assetId');
};

/** Outside the transaction, and safe to repeat: an equal copy is reused, and no row points to it before the commit. */
const bringOut = async (
  context: FlowContext,
  objects: Pick<ObjectStore, 'copy' | 'prove'>,
  asset: Asset,
  { reason }: OperatorOrder,
): Promise<Refusal<ReleaseRefusal> | null> => {
  const { quarantineKey, objectKey, sha256 } = asset;
  if (quarantineKey === null || isBlank(reason) || judge(context, asset) !== null) return null;
  const stored = await objects.prove(quarantineKey);
  if (stored === null) return refuse('BYTES_GONE', 'Its bytes are gone.', 'assetId');
  const mismatch = refuse('CHECKSUM_MISMATCH' as const, 'The bytes are not the declared ones.');
  if (stored.sha256 !== sha256) return mismatch;
  const copied = await objects.copy(quarantineKey, objectKey);
  return copied.outcome === 'conflict' || copied.sha256 !== sha256 ? mismatch : null;
};

const commit = async (
  context: FlowContext,
  tx: Stores,
  asset: Asset,
  { actor }: OperatorOrder,
): Promise<Done<Asset>> => {
  const now = context.clock.now();
  const moved = await tx.assets.patch(
    asset,
    'READY',
    {
      quarantineKey: null,
      rejectionCode: null,
      rejectionDetail: null,
      detectedMime: asset.detectedMime ?? asset.declaredMime,
    },
    now,
  );
  await tx.moderation.record({
    id: context.ids.next(now),
    tenantId: asset.tenantId,
    subjectKind: 'ASSET',
    subjectId: asset.id,
    verdict: 'APPROVE',
    reasonCode: null,
    rulesVersion: 'person',
    decidedBy: actor,
    now,
  });
  await tx.outbox.add(
    {
      type: 'asset',
      id: asset.id,
      version: moved.version,
      tenantId: asset.tenantId,
      traceId: asset.id,
      causationId: 'operator',
    },
    [
      {
        eventId: context.ids.next(now),
        type: 'asset.status.changed',
        payload: { assetId: asset.id, status: 'READY' },
        availableAt: now,
      },
    ],
    now,
  );
  return done(moved, { status: moved.status, sha256: moved.sha256 });
};
