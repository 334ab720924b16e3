import type { Tenant } from '../../ports/stores/catalog-store';
import type { FlowContext } from '../flow-context';
import { act, done, type Acted, type OperatorOrder } from './operator-action';
import { refusalOf, type PauseRefusal } from './pause-provider';

/**
 * Closes an account for uploads and creates, or opens it again. What runs finishes; what waits stays QUEUED and says why. The
 * other processes know it within a second.
 * @param ringScheduler after a resume: what waited may go
 */
export const switchTenant = async (
  context: FlowContext,
  ringScheduler: () => void,
  tenantId: string,
  order: OperatorOrder & { readonly to: Tenant['status'] },
): Promise<Acted<Tenant, PauseRefusal>> => {
  const { to } = order;
  const acted = await act(
    context,
    to === 'PAUSED' ? 'tenant.pause' : 'tenant.resume',
    order,
    async (tx) => {
      const tenant = await tx.switches.lockTenant(tenantId);
      if (tenant === null) return null;
      const before = { status: tenant.status };
      return { kind: 'TENANT', id: tenant.id, tenantId: tenant.id, before, row: tenant };
    },
    async (tx, tenant) => {
      if (tenant.status === to) return refusalOf(to, 'tenantId');
      await tx.switches.setTenantStatus(tenant.id, to);
      return done({ ...tenant, status: to }, { status: to });
    },
  );
  if (acted.kind === 'DONE' && to === 'ACTIVE') ringScheduler();
  return acted;
};
