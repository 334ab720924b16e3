import type { Task } from '../../domain/generation/task';
import { refuse, type Refusal } from '../../domain/generation/refusals';
import type { Asset } from '../../domain/output/asset';
import type { Stores } from '../../ports/unit-of-work';
import { refundInTransaction } from '../bill/refund-credits';
import { reserveCredits, type ReserveRefusal } from '../bill/reserve-credits';
import type { FlowContext } from '../flow-context';
import { applyEvent } from '../transition/apply-event';

export type ReviewRefusal =
  'NOT_FOUND' | 'NOT_IN_REVIEW' | ReserveRefusal | 'SETTLEMENT_PENDING' | 'REASON_REQUIRED';

export interface ReviewDecision {
  readonly verdict: 'APPROVE' | 'REJECT';
  readonly actor: string;
  readonly reason: string;
}

/** A person decides a generation whose prompt needed review. Only an approval opens the hold. */
export const decideGenerationReview = async (
  context: FlowContext,
  taskId: string,
  decision: ReviewDecision,
): Promise<{ readonly kind: 'DECIDED'; readonly task: Task } | Refusal<ReviewRefusal>> => {
  if (decision.reason.trim() === '') return refuse('REASON_REQUIRED', 'Say why.', 'reason');
  try {
    return await context.uow.transact(async (tx) => {
      const task = await tx.tasks.lock(taskId);
      if (task === null) return refuse('NOT_FOUND', 'There is no such generation.', 'generationId');
      if (task.status !== 'VALIDATING') {
        return refuse('NOT_IN_REVIEW', `The generation is ${task.status}.`, 'generationId');
      }
      await recordDecision(context, tx, task.tenantId, 'PROMPT', task.id, decision);
      const moved =
        decision.verdict === 'REJECT'
          ? await reject(context, tx, task)
          : await approve(context, tx, task);
      return { kind: 'DECIDED', task: moved };
    });
  } catch (error) {
    if (error instanceof RefusedInTransaction) return error.refusal;
    throw error;
  }
};

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
  if (refusal !== null) throw new RefusedInTransaction(refusal);
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

export type AssetReview =
  { readonly kind: 'DECIDED'; readonly asset: Asset } | Refusal<ReviewRefusal>;

/**
 * A person decides an uploaded asset, or a generation's output, that needed review. An output that is rejected was paid
 * for: where the platform bears failures, what was settled is refunded.
 */
export const decideAssetReview = async (
  context: FlowContext,
  assetId: string,
  decision: ReviewDecision,
): Promise<AssetReview> => {
  if (decision.reason.trim() === '') return refuse('REASON_REQUIRED', 'Say why.', 'reason');
  const seen = await context.uow.stores.assets.read(assetId);
  const decide = context.uow.transact<AssetReview>(async (tx) => {
    // Always the generation before its assets, as in every other transaction on both.
    const task = seen?.taskId == null ? null : await tx.tasks.lock(seen.taskId);
    const asset = await tx.assets.lock(assetId);
    if (asset === null) return refuse('NOT_FOUND', 'There is no such asset.', 'assetId');
    if (asset.status !== 'IN_REVIEW')
      return refuse('NOT_IN_REVIEW', `The asset is ${asset.status}.`, 'assetId');
    const subject = asset.taskId === null ? 'ASSET' : 'OUTPUT';
    await recordDecision(context, tx, asset.tenantId, subject, asset.id, decision);
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
          payload: { assetId, status: to },
          availableAt: now,
        },
      ],
      now,
    );
    return { kind: 'DECIDED', asset: moved };
  });
  return decide.catch((error: unknown) => {
    if (error instanceof RefusedInTransaction) return error.refusal;
    throw error;
  });
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
    throw new RefusedInTransaction(
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

const recordDecision = async (
  context: FlowContext,
  tx: Stores,
  tenantId: string,
  subjectKind: 'PROMPT' | 'ASSET' | 'OUTPUT',
  subjectId: string,
  decision: ReviewDecision,
): Promise<void> => {
  const now = context.clock.now();
  await tx.moderation.record({
    id: context.ids.next(now),
    tenantId,
    subjectKind,
    subjectId,
    verdict: decision.verdict,
    reasonCode: null,
    rulesVersion: 'person',
    decidedBy: decision.actor,
    now,
  });
  await tx.audit.record({
    id: context.ids.next(now),
    tenantId,
    actor: decision.actor,
    action: `review.${decision.verdict.toLowerCase()}`,
    subjectKind,
    subjectId,
    reason: decision.reason,
    before: { status: 'IN_REVIEW' },
    after: { verdict: decision.verdict },
    now,
  });
};

/** Rolls the decision back and carries the refusal out of it. */
class RefusedInTransaction extends Error {
  constructor(readonly refusal: Refusal<ReviewRefusal>) {
    super(refusal.code);
  }
}
