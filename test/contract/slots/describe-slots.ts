import { describeSlotLeases } from './describe-slot-leases';
import { describeSlotLimits } from './describe-slot-limits';
import { describeSlotModel } from './describe-slot-model';
import { describeSlotRebuild } from './describe-slot-rebuild';
import type { SlotsHarness } from './slots-harness';

/** The contract of src/ports/slots.ts; every adapter runs it. */
export const describeSlots = (name: string, harness: () => SlotsHarness): void => {
  describe(`slots: ${name}`, () => {
    describeSlotLimits(harness);
    describeSlotLeases(harness);
    describeSlotRebuild(harness);
    describeSlotModel(harness);
  });
};
