import { targetsOf } from '../../../domain/generation/transitions';
import type { GenerationRequest, Task } from '../../../domain/generation/task';
import {
  LINE_MAX,
  type Candidate,
  type EventOrigin,
  type NewTask,
  type TaskStore,
} from '../../../ports/stores/task-store';
import type { Database } from '../database';
import { toBoundedPayload, toJson, toRowPatch } from '../json-parameters';
import { writeLetters, type Letters, type Outgoing } from '../outbox-rows';
import { run, runForOne, runForOnly } from '../run-statement';

const LINE_ROWS_PER_CANDIDATE = 50;

/** Generations over `sql/*-task*.sql`. `outgoing` is told of every statement that wrote messages. */
export const createTaskStore = (
  db: Database,
  outgoing: Outgoing,
  ledgerWaitMs: number,
): TaskStore => ({
  ...createTaskWriter(db, outgoing, ledgerWaitMs),
  read: (taskId) => runForOne<Task>(db, 'read-task', { taskId }),
  lock: (taskId) => runForOne<Task>(db, 'lock-task', { taskId }, { rank: 'TASK', key: taskId }),
  findByIdempotencyKey: (tenantId, key) =>
    runForOne<Task>(db, 'find-task-by-idempotency-key', { tenantId, key }),
  readRequest: async (taskId) => {
    const row = await runForOne<RequestRow>(db, 'read-request', { taskId });
    return row === null ? null : { ...row.body, prompt: row.prompt };
  },
  listCandidates: (now, limit) =>
    run<Candidate>(db, 'list-candidates', {
      now,
      limit,
      scanned: Math.max(LINE_MAX, limit * LINE_ROWS_PER_CANDIDATE),
      taskIds: null,
    }),
  readLine: (now) =>
    run<Candidate>(db, 'list-candidates', {
      now,
      limit: LINE_MAX,
      scanned: LINE_MAX,
      taskIds: null,
    }),
  countWaiting: async (now) =>
    (await runForOnly<{ waiting: number }>(db, 'count-waiting', { now })).waiting,
  countLiveOf: (tenantId) =>
    runForOnly<{ queued: number; inFlight: number }>(db, 'count-live-of-tenant', { tenantId }),
  listOverdue: async (now, limit) =>
    (await run<{ id: string }>(db, 'list-overdue-tasks', { now, limit })).map(({ id }) => id),
  listStuck: async (before, _now, limit) =>
    (await run<{ id: string }>(db, 'list-stuck-tasks', { before, limit })).map(({ id }) => id),
  listUnsettled: async (before, limit) =>
    (await run<{ id: string }>(db, 'list-unsettled-tasks', { before, limit })).map(({ id }) => id),
  noteSettled: async (taskId, settledMicros) => {
    await run(db, 'note-settled', { taskId, settledMicros });
  },
  listMediaGivenUp: async (before, limit) =>
    (await run<{ id: string }>(db, 'list-media-given-up', { before, limit })).map(({ id }) => id),
});

type TaskWriter = Pick<
  TaskStore,
  'insert' | 'move' | 'recordIgnored' | 'raiseProgress' | 'postpone'
>;

interface RequestRow {
  readonly prompt: string;
  readonly body: Omit<GenerationRequest, 'prompt'>;
}

const createTaskWriter = (db: Database, outgoing: Outgoing, ledgerWaitMs: number): TaskWriter => ({
  insert: async (task, messages, now) => {
    const letters = writeLetters(outgoing, messages, now);
    const rows = await run(db, 'insert-task', {
      ...insertParameters(task, letters, now),
      ledgerWait: String(ledgerWaitMs),
    });
    if (rows.length === 0) return 'EXISTS';
    letters.written({
      aggregateId: task.id,
      aggregateVersion: task.path.length,
      tenantId: task.tenantId,
      traceId: task.traceId,
      causationId: lastStepOf(task).eventId,
    });
    return 'CREATED';
  },
  move: async ({ task, step, patch, eventId, origin, messages, now }) => {
    const letters = writeLetters(outgoing, messages, now);
    const moved = await runForOne<Task>(db, 'move-task', {
      ...originParameters(origin),
      taskId: task.id,
      version: task.version,
      fromStatus: task.status,
      toStatus: step.to,
      type: step.event,
      patch: toRowPatch('move-task', patch),
      messages: letters.rows,
      eventId,
      now,
    });
    if (moved === null) return null;
    letters.written({
      aggregateId: moved.id,
      aggregateVersion: moved.version,
      tenantId: moved.tenantId,
      traceId: moved.traceId,
      causationId: eventId,
    });
    return moved;
  },
  recordIgnored: async ({ task, type, reason, eventId, origin, now }) => {
    await run(db, 'record-ignored-event', {
      ...originParameters(origin),
      taskId: task.id,
      tenantId: task.tenantId,
      status: task.status,
      version: task.version,
      traceId: task.traceId,
      type,
      reason,
      eventId,
      now,
    });
  },
  raiseProgress: async (taskId, progress) => {
    const bounded = Math.min(100, Math.floor(progress));
    return (await run(db, 'raise-progress', { taskId, progress: bounded })).length > 0;
  },
  postpone: async (taskId, reason, until) => {
    await run(db, 'postpone-task', { taskId, reason, until });
  },
});

const originParameters = (origin: EventOrigin) => ({
  source: origin.source,
  sourceEventId: origin.sourceEventId,
  attemptId: origin.attemptId,
  providerUpdatedAt: origin.providerUpdatedAt,
  payload: toBoundedPayload(origin.payload),
});

const insertParameters = (task: NewTask, letters: Letters, now: Date) => {
  const { prompt, ...body } = task.request;
  const last = lastStepOf(task);
  return {
    taskId: task.id,
    tenantId: task.tenantId,
    projectId: task.projectId,
    apiKeyId: task.apiKeyId,
    clientIdempotencyKey: task.clientIdempotencyKey,
    requestHash: task.requestHash,
    quoteId: task.quoteId,
    status: last.to,
    version: task.path.length,
    requestedModel: task.requestedModel,
    priority: task.priority,
    priceMicros: task.priceMicros,
    reservedMicros: task.reservedMicros,
    scheduleAt: last.to === 'QUEUED' ? now : null,
    waitingSince: now,
    deadlineAt: task.deadlineAt,
    traceId: task.traceId,
    prompt,
    body: toJson(body),
    inputs: toJson(
      task.inputs.map(({ assetId, role }, position) => ({ asset_id: assetId, role, position })),
    ),
    path: toJson(pathRows(task)),
    causationId: last.eventId,
    messages: letters.rows,
    now,
  };
};

const lastStepOf = (task: NewTask): NewTask['path'][number] => {
  const last = task.path.at(-1);
  if (last === undefined) throw new RangeError('The path of a new generation begins with CREATED');
  return last;
};

/** One row of history a step, from version 1 on; only listed transitions. */
const pathRows = (task: NewTask) =>
  task.path.map((step, index) => {
    const from = task.path[index - 1]?.to ?? null;
    const isListed =
      from === null
        ? step.event === 'created' && step.to === 'CREATED'
        : step.event !== 'created' && targetsOf(from, step.event).includes(step.to);
    if (!isListed) throw new RangeError(`A new generation cannot go ${String(from)} → ${step.to}`);
    return {
      event_id: step.eventId,
      type: step.event,
      from_status: from,
      to_status: step.to,
      task_version: index + 1,
    };
  });
