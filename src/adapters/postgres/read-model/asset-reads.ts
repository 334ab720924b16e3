import type { Asset } from '../../../domain/output/asset';
import type { ReadModel } from '../../../ports/read-model';
import type { PrismaClient } from '../generated/client';
import { cutOf, idBounds, toPage } from './page-rows';
import { toPort } from './to-port';

type AssetReads = Pick<
  ReadModel,
  'readAssets' | 'pageAssets' | 'listInputs' | 'listOutputs' | 'readLiveAssets'
>;

export const createAssetReads = (prisma: PrismaClient): AssetReads => ({
  readAssets: async (tenantId, ids) => {
    const rows = await prisma.assets.findMany({
      where: { tenant_id: tenantId, id: { in: [...ids] } },
    });
    return rows.map((row) => toPort<Asset>(row));
  },
  pageAssets: async (tenantId, filter, page) => {
    const rows = await prisma.assets.findMany({
      where: {
        tenant_id: tenantId,
        id: idBounds(page, filter),
        ...(filter.statuses === null ? {} : { status: { in: [...filter.statuses] } }),
        ...(filter.kinds === null ? {} : { kind: { in: [...filter.kinds] } }),
        ...(filter.projectId === null ? {} : { project_id: filter.projectId }),
      },
      ...cutOf(page),
    });
    return toPage(
      rows.map((row) => toPort<Asset>(row)),
      page,
    );
  },
  listInputs: async (tenantId, taskIds) => {
    const rows = await prisma.generation_inputs.findMany({
      where: { task_id: { in: [...taskIds] }, task: { tenant_id: tenantId } },
      orderBy: { position: 'asc' },
      include: { asset: true },
    });
    return rows.map((row) => ({ taskId: row.task_id, asset: toPort<Asset>(row.asset) }));
  },
  listOutputs: async (tenantId, taskIds) => {
    const rows = await prisma.assets.findMany({
      where: { tenant_id: tenantId, task_id: { in: [...taskIds] } },
      orderBy: { id: 'asc' },
    });
    return rows.map((row) => ({ taskId: row.task_id ?? '', asset: toPort<Asset>(row) }));
  },
  readLiveAssets: async (keys) => {
    const tenantOf = new Map(keys.map(({ id, tenantId }) => [id, tenantId]));
    const rows = await prisma.assets.findMany({
      where: {
        id: { in: [...tenantOf.keys()] },
        tenant_id: { in: [...new Set(tenantOf.values())] },
      },
    });
    return rows
      .filter((row) => tenantOf.get(row.id) === row.tenant_id)
      .map((row) => toPort<Asset>(row));
  },
});
