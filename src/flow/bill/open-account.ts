import type { Stores } from '../../ports/unit-of-work';
import type { Subject } from '../operate/operator-action';

/** An account for an action with its money: the tenant's row is locked, so that two actions come one after the other. */
export const openAccount = async (
  tx: Stores,
  tenantId: string,
): Promise<Subject<string> | null> => {
  const tenant = await tx.switches.lockTenant(tenantId);
  if (tenant === null) return null;
  const balance = await tx.money.readBalance(tenant.id);
  return {
    kind: 'TENANT',
    id: tenant.id,
    tenantId: tenant.id,
    before: { availableMicros: balance?.availableMicros.toString() ?? null },
    row: tenant.id,
  };
};
