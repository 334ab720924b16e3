import type { LedgerEntry, ReadModel } from '../../../ports/read-model';
import type { Quote } from '../../../ports/stores/catalog-store';
import type { PrismaClient } from '../generated/client';
import { cutOf, idBounds, toPage } from './page-rows';
import { toPort } from './to-port';

type MoneyReads = Pick<
  ReadModel,
  'listLedgerOfTasks' | 'readLedgerEntries' | 'pageLedger' | 'readQuotes' | 'readProjects'
>;

export const createMoneyReads = (prisma: PrismaClient): MoneyReads => ({
  listLedgerOfTasks: async (tenantId, taskIds) => {
    const rows = await prisma.credit_ledger.findMany({
      where: { tenant_id: tenantId, task_id: { in: [...taskIds] } },
      orderBy: { id: 'asc' },
    });
    return rows.map((row) => toPort<LedgerEntry>(row));
  },
  readLedgerEntries: async (tenantId, ids) => {
    const rows = await prisma.credit_ledger.findMany({
      where: { tenant_id: tenantId, id: { in: [...ids] } },
    });
    return rows.map((row) => toPort<LedgerEntry>(row));
  },
  pageLedger: async (tenantId, filter, page) => {
    const rows = await prisma.credit_ledger.findMany({
      where: {
        tenant_id: tenantId,
        id: idBounds(page, filter),
        ...(filter.kinds === null ? {} : { kind: { in: [...filter.kinds] } }),
        ...(filter.taskId === null ? {} : { task_id: filter.taskId }),
      },
      ...cutOf(page),
    });
    return toPage(
      rows.map((row) => toPort<LedgerEntry>(row)),
      page,
    );
  },
  readQuotes: async (tenantId, ids) => {
    const rows = await prisma.quotes.findMany({
      where: { tenant_id: tenantId, id: { in: [...ids] } },
    });
    return rows.map((row) => toPort<Quote>(row));
  },
  readProjects: async (tenantId, ids) =>
    (await prisma.projects.findMany({ where: { tenant_id: tenantId, id: { in: [...ids] } } })).map(
      ({ id, tenant_id, name }) => ({ id, tenantId: tenant_id, name }),
    ),
});
