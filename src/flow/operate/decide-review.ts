import { refuse, type Refusal } from '../../domain/generation/refusals';
import type { Task } from '../../domain/generation/task';
import type { Asset } from '../../domain/output/asset';
import type { Stores } from '../../ports/unit-of-work';
import { refundInTransaction } from '../bill/refund-credits';
import { reserveCredits, type ReserveRefusal } from '../bill/reserve-credits';
import type { FlowContext } from '../flow-context';
import { applyEvent } from '../transition/apply-event';
import {
  act,
  done,
  factsOfTask,
  openTask,
  RefusedAfterWriting,
  type Acted,
  type Done,
  type OperatorOrder,
  type Subject,
} from './operator-action';

export type ReviewRefusal = 'NOT_IN_REVIEW' | ReserveRefusal | 'SETTLEMENT_PENDING';

export interface ReviewDecision extends OperatorOrder {
  readonly verdict: 'APPROVE' | 'REJECT';
}

const actionOf = ({ verdict }: ReviewDecision): string => `review.${verdict.toLowerCase()}`;

/** A person decides a generation whose prompt needed review. Only an approval opens the hold. */
export const decideGenerationReview = (
  context: FlowContext,
  taskId: string,
  decision: ReviewDecision,
): Promise<Acted<Task, ReviewRefusal>> =>
  act(
    context,
    actionOf(decision),
    decision,
    async (tx) => {
      const subject = await openTask(taskId)(tx);
      return subject === null ? null : { ...subject, kind: 'PROMPT' };
    },
    async (tx, { task }): Promise<Done<Task> | Refusal<ReviewRefusal>> => {
      if (task.status !== 'VALIDATING') {
        return refuse('NOT_IN_REVIEW', `The generation is ${task.status}.`, 'generationId');
      }
      const moved =
        decision.verdict === 'REJECT'
          ? await reject(context, tx, task)
          : await approve(context, tx, task);
      await recordVerdict(context, tx, task.tenantId, 'PROMPT', task.id, decision);
      return done(moved, factsOfTask(moved));
    },
  );

const reject = async (context: FlowContext, tx: Stores, task: Task): Promise<Task> =>
  (
    await applyEvent(context, tx, {
      task,
      attempt: null,
      event: { type: 'review_rejected' },
      origin: { source: 'admin' },
      error: { class: 'MODERATION', code: 'MODERATION_REJECTED' },
    })
  ).task;

const approve = async (context: FlowContext, tx: Stores, task: Task): Promise<Task> => {
  const now = context.clock.now();
  await tx.money.boundWait();
  const refusal = await reserveCredits(context, tx, task, now);
  if (refusal !== null) throw new RefusedAfterWriting(refusal);
  const origin = { source: 'admin' as const };
  const approved = await applyEvent(context, tx, {
    task,
    attempt: null,
    event: { type: 'review_approved' },
    origin,
    taskPatch: { reservedMicros: task.priceMicros },
  });
  const queued = await applyEvent(context, tx, {
    task: approved.task,
    attempt: null,
    event: { type: 'queued' },
    origin,
  });
  return queued.task;
};

/**
 * A person decides an uploaded asset, or a generation's output, that needed review. An output that is rejected was paid
 * for: where the platform bears failures, what was settled is refunded.
 */
export const decideAssetReview = async (
  context: FlowContext,
  assetId: string,
  decision: ReviewDecision,
): Promise<Acted<Asset, ReviewRefusal>> => {
  const seen = await context.uow.stores.assets.read(assetId);
  return act(
    context,
    actionOf(decision),
    decision,
    (tx) => openAsset(tx, assetId, seen?.taskId ?? null),
    async (tx, { task, asset }): Promise<Done<Asset> | Refusal<ReviewRefusal>> => {
      if (asset.status !== 'IN_REVIEW') {
        return refuse('NOT_IN_REVIEW', `The asset is ${asset.status}.`, 'assetId');
      }
      const moved = await moveAsset(context, tx, asset, task, decision);
      const subject = task === null ? 'ASSET' : 'OUTPUT';
      await recordVerdict(context, tx, asset.tenantId, subject, asset.id, decision);
      return done(moved, { status: moved.status });
    },
  );
};

interface AssetRow {
  readonly task: Task | null;
  readonly asset: Asset;
}

/** Always the generation before its assets, as in every other transaction on both. */
const openAsset = async (
  tx: Stores,
  assetId: string,
  taskId: string | null,
): Promise<Subject<AssetRow> | null> => {
  const task = taskId === null ? null : await tx.tasks.lock(taskId);
  const asset = await tx.assets.lock(assetId);
  if (asset === null) return null;
  return {
    kind: asset.taskId === null ? 'ASSET' : 'OUTPUT',
    id: asset.id,
    tenantId: asset.tenantId,
    before: { status: asset.status },
    row: { task, asset },
  };
};

const moveAsset = async (
  context: FlowContext,
  tx: Stores,
  asset: Asset,
  task: Task | null,
  decision: ReviewDecision,
): Promise<Asset> => {
  const now = context.clock.now();
  const to = decision.verdict === 'APPROVE' ? 'READY' : 'REJECTED';
  const patch = decision.verdict === 'APPROVE' ? {} : { rejectionCode: 'MODERATION_REJECTED' };
  const moved = await tx.assets.patch(asset, to, patch, now);
  await moveRelated(tx, asset, to, now);
  if (task !== null && to === 'REJECTED') await takeBack(context, tx, task, decision);
  await tx.outbox.add(
    {
      type: 'asset',
      id: asset.id,
      version: moved.version,
      tenantId: asset.tenantId,
      traceId: asset.id,
      causationId: null,
    },
    [
      {
        eventId: context.ids.next(now),
        type: 'asset.status.changed',
        payload: { assetId: asset.id, status: to },
        availableAt: now,
      },
    ],
    now,
  );
  return moved;
};

/** The generation stays a success that was delivered and then withdrawn; its history and its money say so. */
const takeBack = async (
  context: FlowContext,
  tx: Stores,
  task: Task,
  decision: ReviewDecision,
): Promise<void> => {
  await applyEvent(context, tx, {
    task,
    attempt: null,
    event: { type: 'review_rejected' },
    origin: { source: 'admin', payload: { actor: decision.actor } },
    error: { class: 'MODERATION', code: 'OUTPUT_REJECTED' },
  });
  const tenant = await tx.catalog.readTenant(task.tenantId);
  if (tenant?.chargedFailureBearer !== 'PLATFORM') return;
  const refund = await refundInTransaction(context, tx, {
    taskId: task.id,
    amountMicros: null,
    reference: null,
    reason: 'OUTPUT_REJECTED',
    actor: decision.actor,
  });
  // What is not booked yet cannot be given back; decided now, it would never be.
  if (refund?.outcome === 'NOT_SETTLED') {
    throw new RefusedAfterWriting(
      refuse('SETTLEMENT_PENDING', 'The charge is still being booked; decide again in a minute.'),
    );
  }
};

/** An output is judged as a whole: its raw file and everything derived from it. */
const moveRelated = async (
  tx: Stores,
  asset: Asset,
  to: 'READY' | 'REJECTED',
  now: Date,
): Promise<void> => {
  if (asset.taskId === null) return;
  for (const each of await tx.assets.listOfTask(asset.taskId)) {
    if (each.id === asset.id || each.status !== 'IN_REVIEW') continue;
    const locked = await tx.assets.lock(each.id);
    if (locked !== null) await tx.assets.patch(locked, to, {}, now);
  }
};

const recordVerdict = async (
  context: FlowContext,
  tx: Stores,
  tenantId: string,
  subjectKind: 'PROMPT' | 'ASSET' | 'OUTPUT',
  subjectId: string,
  { verdict, actor }: ReviewDecision,
): Promise<void> => {
  const now = context.clock.now();
  await tx.moderation.record({
    id: context.ids.next(now),
    tenantId,
    subjectKind,
    subjectId,
    verdict,
    reasonCode: null,
    rulesVersion: 'person',
    decidedBy: actor,
    now,
  });
};
