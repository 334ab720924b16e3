import type { FindingKind } from '../../domain/generation/decision';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';

const BATCH = 100;

/** Provider events that no attempt has claimed in time: given up and counted. One that is claimed later is matched all the same. */
export const expireOrphans = async (context: FlowContext): Promise<number> => {
  const now = context.clock.now();
  return context.uow.transact(async (tx) => {
    const expired = await tx.repair.expireOrphans(now, BATCH);
    for (const { id, ...detail } of expired) {
      await tx.findings.record({
        id: context.ids.next(now),
        kind: 'ORPHAN_PROVIDER_EVENT',
        subjectKind: 'provider_event',
        subjectId: id,
        tenantId: null,
        detail: { ...detail, receivedAt: detail.receivedAt.toISOString() },
        actionTaken: 'given up; kept, and matched if its attempt turns up',
        now,
      });
    }
    return expired.length;
  });
};

/** Accounts that hold another amount than their open holds together: nothing is repaired here, a person must know. */
export const findHeldMismatches = async (context: FlowContext): Promise<number> => {
  const { stores } = context.uow;
  const mismatches = await stores.repair.listHeldMismatches(BATCH);
  const now = context.clock.now();
  for (const { tenantId, heldMicros, openMicros } of mismatches) {
    await stores.findings.record({
      id: context.ids.next(now),
      kind: 'LEDGER_MISMATCH',
      subjectKind: 'tenant',
      subjectId: tenantId,
      tenantId,
      detail: { heldMicros: heldMicros.toString(), openHoldsMicros: openMicros.toString() },
      actionTaken: null,
      now,
    });
  }
  return mismatches.length;
};

/** Costs that are known and stand in no book: the message that asks for it is published, or written, again. */
export const rescueCosts = async (context: FlowContext): Promise<number> => {
  const now = context.clock.now();
  const before = new Date(now.getTime() - context.settings.stuckAfterMs);
  const unbooked = await context.uow.stores.repair.listUnbookedCosts(before, BATCH);
  for (const { id, taskId, tenantId } of unbooked) {
    await context.uow.transact((tx) =>
      askAgain(context, tx, { taskId, tenantId, subjectKind: 'attempt', subjectId: id }, now, {
        type: 'billing.cost.observed',
        group: 'billing',
        payload: { taskId, attemptId: id },
      }),
    );
  }
  return unbooked.length;
};

/** Derivatives that failed beside a playable output, and whose next try never came. */
export const rescueDerivatives = async (context: FlowContext): Promise<number> => {
  const now = context.clock.now();
  const before = new Date(now.getTime() - context.settings.stuckAfterMs);
  const { stores } = context.uow;
  const waiting = await stores.repair.listRawToDeriveAgain(before, BATCH);
  for (const { id, taskId, tenantId } of waiting) {
    if (taskId === null) continue;
    await context.uow.transact((tx) =>
      askAgain(context, tx, { taskId, tenantId, subjectKind: 'asset', subjectId: id }, now, {
        type: 'media.process.requested',
        group: 'media',
        payload: { taskId, rawAssetId: id },
      }),
    );
  }
  return waiting.length;
};

type Lost =
  | {
      readonly type: 'billing.cost.observed';
      readonly group: 'billing';
      readonly payload: { readonly taskId: string; readonly attemptId: string };
    }
  | {
      readonly type: 'media.process.requested';
      readonly group: 'media';
      readonly payload: { readonly taskId: string; readonly rawAssetId: string };
    };

/** One that merely waits is not doubled: it is published under its own id. */
const askAgain = async (
  context: FlowContext,
  tx: Stores,
  about: {
    readonly taskId: string;
    readonly tenantId: string;
    readonly subjectKind: 'attempt' | 'asset';
    readonly subjectId: string;
  },
  now: Date,
  { type, group, payload }: Lost,
): Promise<void> => {
  const aggregates = [about.taskId, about.subjectId];
  const waits = await tx.outbox.publishAgain(aggregates, type, group, now);
  if (!waits) {
    await tx.outbox.add(
      {
        type: 'generation',
        id: about.taskId,
        version: 0,
        tenantId: about.tenantId,
        traceId: about.taskId,
        causationId: 'reconciler',
      },
      [{ eventId: context.ids.next(now), type, payload, availableAt: now }],
      now,
    );
  }
  await tx.findings.record({
    id: context.ids.next(now),
    kind: 'LOST_MESSAGE',
    subjectKind: about.subjectKind,
    subjectId: about.subjectId,
    tenantId: about.tenantId,
    detail: { taskId: about.taskId, type },
    actionTaken: `${waits ? 'published' : 'asked'} again: ${type}`,
    now,
  });
};

/** Kinds that every pass looks for anew, each with what its looks found: what the latest pass did not see is over. */
export type Looks = Readonly<
  Partial<
    Record<
      Extract<FindingKind, 'LEDGER_MISMATCH' | 'UNBALANCED_HOLD' | 'SLOT_DRIFT' | 'LOST_MESSAGE'>,
      readonly number[]
    >
  >
>;

/**
 * Ends the findings of what is over. A look that came back full has not seen everything, so that nothing of its kind ends.
 * @param passBegan when the pass began that looked
 */
export const resolveFindings = async (
  context: FlowContext,
  passBegan: Date,
  looks: Looks,
): Promise<void> => {
  const { repair } = context.uow.stores;
  const now = context.clock.now();
  const complete = (Object.keys(looks) as (keyof Looks)[]).filter((kind) =>
    (looks[kind] ?? []).every((found) => found < BATCH),
  );
  await repair.resolveNotSeen(complete, passBegan, now);
  await repair.resolveMoved(now);
};
