import { admissionScopesOf } from '../../domain/scheduling/admission';
import { accountLimitAt } from '../../domain/scheduling/routing';
import type { SlotHolder } from '../../ports/slots';
import type { FlowContext } from '../flow-context';

/** Who holds slots by the facts: each attempt that may have a living job, on its four levels with today's limits. */
export const listSlotHolders = async (
  context: Pick<FlowContext, 'uow' | 'clock' | 'settings'>,
): Promise<SlotHolder[]> => {
  const { stores } = context.uow;
  const [attempts, accounts] = await Promise.all([
    stores.attempts.listSlotHolders(),
    stores.catalog.listAccounts(),
  ]);
  const now = context.clock.now();
  const limitOf = new Map(accounts.map((account) => [account.id, accountLimitAt(account, now)]));
  const tenantLimits = new Map<string, number>();
  for (const tenantId of new Set(attempts.map((attempt) => attempt.tenantId))) {
    tenantLimits.set(tenantId, (await stores.catalog.readTenant(tenantId))?.inFlightMax ?? 0);
  }
  return attempts.map((attempt) => ({
    holder: attempt.id,
    token: attempt.slotToken,
    scopes: admissionScopesOf({
      platformMax: context.settings.platformConcurrentMax,
      providerId: attempt.providerId,
      account: { id: attempt.accountId, limitMax: limitOf.get(attempt.accountId) ?? 0 },
      tenant: { id: attempt.tenantId, limitMax: tenantLimits.get(attempt.tenantId) ?? 0 },
    }),
  }));
};
