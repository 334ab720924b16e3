import { circuitStateOf } from '../../domain/scheduling/routing';
import type { HealthCheck } from '../../ports/health';
import type { FlowContext } from '../../flow/flow-context';

/** Which accounts take no submits at present: queries and cancels still go to them. */
export const createCircuitHealth =
  ({ uow, clock }: Pick<FlowContext, 'uow' | 'clock'>): HealthCheck =>
  async () => {
    const accounts = await uow.stores.catalog.listAccounts();
    const now = clock.now();
    const open = accounts.filter((account) => circuitStateOf(account, now) !== 'CLOSED');
    return open.length === 0
      ? { ok: true, detail: `${accounts.length} account(s), every circuit is closed` }
      : {
          ok: false,
          detail: open
            .map((account) => `${account.providerId}: ${circuitStateOf(account, now)}`)
            .join(', '),
        };
  };
