import type { Attempt } from '../../../domain/attempt/attempt';
import type { GenerationRequest, Task } from '../../../domain/generation/task';
import type {
  LateResult,
  PlannedMessage,
  ReadModel,
  StateEvent,
  TimelineEntry,
} from '../../../ports/read-model';
import { LINE_MAX, type Candidate } from '../../../ports/stores/task-store';
import type { PrismaClient } from '../generated/client';
import { cutOf, idBounds, toPage } from './page-rows';
import { runRaw } from './run-raw';
import { toPort } from './to-port';

type GenerationReads = Pick<
  ReadModel,
  | 'readTasks'
  | 'findTaskByKey'
  | 'pageTasks'
  | 'readRequests'
  | 'listAttempts'
  | 'readAttempts'
  | 'listEvents'
  | 'listTransitions'
  | 'listLateResults'
  | 'readWaitingPlaces'
  | 'readLiveTasks'
  | 'readTimeline'
  | 'listPlannedMessages'
>;

export const createGenerationReads = (prisma: PrismaClient): GenerationReads => ({
  ...createTaskReads(prisma),
  readRequests: async (tenantId, taskIds) => {
    const rows = await prisma.generation_requests.findMany({
      where: { tenant_id: tenantId, task_id: { in: [...taskIds] } },
    });
    return rows.map(({ task_id, prompt, body }) => ({
      taskId: task_id,
      request: { ...(body as unknown as Omit<GenerationRequest, 'prompt'>), prompt },
    }));
  },
  listAttempts: async (tenantId, taskIds) => {
    const rows = await prisma.task_attempts.findMany({
      where: { tenant_id: tenantId, task_id: { in: [...taskIds] } },
      orderBy: [{ task_id: 'asc' }, { attempt_no: 'asc' }],
    });
    return rows.map((row) => toPort<Attempt>(row));
  },
  readAttempts: async (tenantId, ids) => {
    const rows = await prisma.task_attempts.findMany({
      where: { tenant_id: tenantId, id: { in: [...ids] } },
    });
    return rows.map((row) => toPort<Attempt>(row));
  },
  listEvents: (tenantId, taskIds, limitEach) =>
    runRaw<StateEvent>(prisma, 'list-recent-events-of-tasks', { tenantId, taskIds, limitEach }),
  listTransitions: async (tenantId, taskId, afterVersion, limit) => {
    const rows = await prisma.task_state_events.findMany({
      where: {
        tenant_id: tenantId,
        task_id: taskId,
        task_version: { gt: afterVersion },
        ignored_reason: null,
      },
      orderBy: { event_id: 'asc' },
      omit: { payload: true },
      take: limit,
    });
    return rows.map((row) => toPort<StateEvent>(row));
  },
  readTimeline: (tenantId, taskId, limit) =>
    runRaw<TimelineEntry>(prisma, 'read-timeline-of-task', { tenantId, taskId, limit }),
  listPlannedMessages: (tenantId, aggregateIds) =>
    runRaw<PlannedMessage>(prisma, 'list-planned-messages', { tenantId, aggregateIds }),
  listLateResults: (tenantId, taskIds) =>
    runRaw<LateResult>(prisma, 'list-late-results', { tenantId, taskIds }),
  readWaitingPlaces: async (tenantId, taskIds, horizon) => {
    const places = await runRaw<Candidate>(prisma, 'list-candidates', {
      now: horizon,
      limit: taskIds.length,
      scanned: LINE_MAX,
      taskIds,
    });
    return places.filter((place) => place.tenantId === tenantId);
  },
});

const createTaskReads = (
  prisma: PrismaClient,
): Pick<ReadModel, 'readTasks' | 'findTaskByKey' | 'pageTasks' | 'readLiveTasks'> => ({
  readTasks: async (tenantId, ids) => {
    const rows = await prisma.generation_tasks.findMany({
      where: { tenant_id: tenantId, id: { in: [...ids] } },
    });
    return rows.map((row) => toPort<Task>(row));
  },
  findTaskByKey: async (tenantId, key) => {
    const row = await prisma.generation_tasks.findFirst({
      where: { tenant_id: tenantId, client_idempotency_key: key },
    });
    return row === null ? null : toPort<Task>(row);
  },
  pageTasks: async (tenantId, filter, page) => {
    const rows = await prisma.generation_tasks.findMany({
      where: {
        tenant_id: tenantId,
        id: idBounds(page, filter),
        ...(filter.statuses === null ? {} : { status: { in: [...filter.statuses] } }),
        ...(filter.model === null ? {} : { requested_model: filter.model }),
        ...(filter.projectId === null ? {} : { project_id: filter.projectId }),
      },
      ...cutOf(page),
    });
    return toPage(
      rows.map((row) => toPort<Task>(row)),
      page,
    );
  },
  readLiveTasks: async (keys) => {
    const tenantOf = new Map(keys.map(({ id, tenantId }) => [id, tenantId]));
    const rows = await prisma.generation_tasks.findMany({
      where: {
        id: { in: [...tenantOf.keys()] },
        tenant_id: { in: [...new Set(tenantOf.values())] },
      },
    });
    return rows
      .filter((row) => tenantOf.get(row.id) === row.tenant_id)
      .map((row) => toPort<Task>(row));
  },
});
