import { describeCallbacks } from './describe-callbacks';
import { describeQueries } from './describe-queries';
import { describeReconciliation } from './describe-reconciliation';
import { describeSubmit } from './describe-submit';
import type { GatewayHarness } from './gateway-harness';

/** The contract of src/ports/provider-gateway.ts; every adapter with a provider that can be told to fail runs it. */
export function describeProviderGateway(name: string, setup: () => Promise<GatewayHarness>): void {
  describe(`provider gateway: ${name}`, () => {
    let harness: GatewayHarness;
    beforeAll(async () => {
      harness = await setup();
    }, 60_000);
    afterAll(() => harness.close());

    describeSubmit(() => harness);
    describeReconciliation(() => harness);
    describeQueries(() => harness);
    describeCallbacks(() => harness);
  });
}
