import type { Attempt } from '../../../domain/attempt/attempt';
import type { Task } from '../../../domain/generation/task';
import type { AuditEntry, DeadMessage, OperatorReads } from '../../../ports/operator-reads';
import type { PageRequest } from '../../../ports/read-model';
import type { Tenant } from '../../../ports/stores/catalog-store';
import type { Finding } from '../../../ports/stores/operations-store';
import type { PrismaClient } from '../generated/client';
import { cutOf, idBounds, toPage } from './page-rows';
import { translateFaults } from './prisma-errors';
import { runRaw } from './run-raw';
import { toPort } from './to-port';

const ALWAYS = { createdAfter: null, createdBefore: null };

/** The lists of operators over Prisma. Each has an index of few rows: those that it shows, or all that are alive. */
export const createOperatorReads = (prisma: PrismaClient): OperatorReads =>
  translateFaults({
    ...createTaskLists(prisma),
    ...createRecordLists(prisma),
    pageTenants: async (page) => {
      const rows = await prisma.tenants.findMany({
        where: { id: idBounds(page, ALWAYS) },
        omit: { created_at: true },
        ...cutOf(page),
      });
      return toPage(
        rows.map((row) => toPort<Tenant>(row)),
        page,
      );
    },
    listProviders: async () => {
      const rows = await prisma.providers.findMany({
        include: { accounts: { orderBy: { id: 'asc' } } },
        orderBy: { id: 'asc' },
      });
      return rows.map(({ id, display_name, status, accounts }) => ({
        id,
        displayName: display_name,
        status: status as Tenant['status'],
        accounts: accounts.map((account) => ({
          id: account.id,
          status: account.status as Tenant['status'],
          concurrentMax: account.concurrent_max,
          circuitOpenUntil: account.circuit_open_until,
        })),
      }));
    },
  });

const createTaskLists = (
  prisma: PrismaClient,
): Pick<OperatorReads, 'pageInReview' | 'pageNeedingOperator' | 'pageInDoubt'> => ({
  pageInReview: async (page) => {
    const rows = await prisma.generation_tasks.findMany({
      where: { id: idBounds(page, ALWAYS), status: 'VALIDATING', finished_at: null },
      ...cutOf(page),
    });
    return toPage(
      rows.map((row) => toPort<Task>(row)),
      page,
    );
  },
  pageNeedingOperator: async (page) => {
    const rows = await prisma.generation_tasks.findMany({
      where: { id: idBounds(page, ALWAYS), needs_operator: true, finished_at: null },
      ...cutOf(page),
    });
    return toPage(
      rows.map((row) => toPort<Task>(row)),
      page,
    );
  },
  pageInDoubt: async (page) => {
    const rows = await prisma.task_attempts.findMany({
      where: {
        id: idBounds(page, ALWAYS),
        status: { in: ['UNKNOWN', 'ABANDONED'] },
        completed_at: null,
      },
      ...cutOf(page),
    });
    return toPage(
      rows.map((row) => toPort<Attempt>(row)),
      page,
    );
  },
});

const createRecordLists = (
  prisma: PrismaClient,
): Pick<OperatorReads, 'pageFindings' | 'pageAudit' | 'pageDeadMessages'> => ({
  pageFindings: async (filter, page) => {
    const rows = await prisma.findings.findMany({
      where: {
        id: idBounds(page, ALWAYS),
        ...(filter.kinds === null ? {} : { kind: { in: [...filter.kinds] } }),
        ...(filter.resolved === null
          ? {}
          : { resolved_at: filter.resolved ? { not: null } : null }),
        ...(filter.subjectId === null ? {} : { subject_id: filter.subjectId }),
      },
      ...cutOf(page),
    });
    return toPage(
      rows.map((row) => toPort<Finding>(row)),
      page,
    );
  },
  pageAudit: async (filter, page) => {
    const rows = await prisma.audit_log.findMany({
      where: {
        id: idBounds(page, ALWAYS),
        ...(filter.subjectId === null ? {} : { subject_id: filter.subjectId }),
        ...(filter.actor === null ? {} : { actor: filter.actor }),
      },
      ...cutOf(page),
    });
    return toPage(
      rows.map((row) => toPort<AuditEntry>(row)),
      page,
    );
  },
  pageDeadMessages: async (page: PageRequest) => {
    const { afterId, beforeId, fromEnd, limit } = page;
    const cut = { afterId, beforeId, fromEnd, limit: limit + 1 };
    return toPage(await runRaw<DeadMessage>(prisma, 'page-dead-messages', cut), page);
  },
});
