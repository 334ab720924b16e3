import { describeDeath } from './describe-death';
import { describeDelivery } from './describe-delivery';
import { describeLeases } from './describe-leases';
import { onBus, type BusAtNow, type BusHarness } from './bus-harness';

/** The contract of src/ports/message-bus.ts; every adapter runs it. */
export const describeMessageBus = (name: string, openHarness: () => Promise<BusHarness>): void => {
  describe(`message bus: ${name}`, () => {
    let harness: BusHarness;

    beforeEach(async () => {
      harness = await openHarness();
    });
    afterEach(() => harness.dispose());

    const open = async (): Promise<BusAtNow> => onBus(harness, await harness.open());
    const suite = { open, harness: () => harness };

    describeDelivery(suite);
    describeLeases(suite);
    describeDeath(suite);
  });
};
