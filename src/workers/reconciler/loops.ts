import { rescueSettlements } from '../../flow/bill/settle-later';
import {
  expireOrphans,
  findHeldMismatches,
  rescueCosts,
  rescueDerivatives,
  resolveFindings,
} from '../../flow/reconcile/find-anomalies';
import {
  createOrphanMatcher,
  keepPartitions,
  rebuildSlots,
  rescueValidations,
  sweepQuarantine,
  sweepUploads,
} from '../../flow/reconcile/recover-resources';
import { createObjectSweep } from '../../flow/reconcile/sweep-objects';
import {
  endMediaWindows,
  endRetention,
  expireOverdue,
  recoverLostLeases,
  rescueStuck,
} from '../../flow/reconcile/recover-tasks';
import { sweepStrayUploads } from '../../flow/reconcile/sweep-stray-uploads';
import { createReconcileConsumer } from '../../flow/reconcile/resolve-unknown';
import type { Container } from '../../runtime/container';
import { consume, loop } from '../../runtime/parts';
import type { Running } from '../../runtime/run-worker';

/** Lives of processes that ended longer ago say nothing any more. */
const INSTANCE_AGE_MS = 24 * 3_600_000;

export const startReconcilerLoops = async (container: Container): Promise<Running[]> => {
  const { context, slots, objects, partitions, instances, provider, config, sweepLeftovers } =
    container;
  const matchOrphans = createOrphanMatcher(context);
  const sweepObjects = createObjectSweep(context, objects);
  return [
    consume(container, 'reconciler', 4, {
      'attempt.reconcile.requested': createReconcileConsumer(context, provider),
    }),
    loop(container, 'recover-tasks', null, 2_000, async () => {
      const moved =
        (await expireOverdue(context, slots)) + (await recoverLostLeases(context, slots));
      return { busy: moved > 0, dueAt: null };
    }),
    loop(container, 'match-orphans', null, 3_000, async () => {
      await matchOrphans();
      return { busy: false, dueAt: null };
    }),
    loop(container, 'recover-resources', null, 10_000, async () => {
      const began = context.clock.now();
      await rescueStuck(context);
      const unsettled = await rescueSettlements(context);
      await rescueValidations(context);
      const lost = [await rescueCosts(context), await rescueDerivatives(context)];
      await endMediaWindows(context);
      await endRetention(context);
      await expireOrphans(context);
      const mismatched = await findHeldMismatches(context);
      await rebuildSlots(context, slots);
      await sweepUploads(context, objects);
      await sweepQuarantine(context, objects);
      await sweepStrayUploads(context, objects);
      await sweepLeftovers();
      await resolveFindings(context, began, {
        UNBALANCED_HOLD: [unsettled],
        LOST_MESSAGE: lost,
        LEDGER_MISMATCH: [mismatched],
        // All slots are looked at, always.
        SLOT_DRIFT: [],
      });
      return { busy: false, dueAt: null };
    }),
    loop(container, 'sweep-objects', null, 60_000, async () => {
      await sweepObjects();
      return { busy: false, dueAt: null };
    }),
    loop(container, 'partitions', null, 3_600_000, async () => {
      await keepPartitions(context, partitions, config.retentionDays);
      await instances.forget(new Date(context.clock.now().getTime() - INSTANCE_AGE_MS));
      return { busy: false, dueAt: null };
    }),
  ];
};
