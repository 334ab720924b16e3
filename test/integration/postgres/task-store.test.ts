import {
  addTask,
  addTenant,
  at,
  moveTask,
  mustRead,
  newId,
  newTask,
  NOW,
  ORIGIN,
  statusChanged,
  useStores,
} from './fixtures';
import { eventually } from '../../support/eventually';

const bench = useStores();

const CLAIM = { event: 'dispatch_claimed', to: 'DISPATCHING' } as const;

describe('inserting a generation', () => {
  it('writes row, request, inputs, one event a step and the messages together', async () => {
    const tenantId = await addTenant(bench());
    const { tasks, assets } = bench().stores;
    const assetId = newId();
    await assets.insert(
      {
        id: assetId,
        tenantId,
        projectId: null,
        taskId: null,
        attemptId: null,
        parentAssetId: null,
        kind: 'INPUT_IMAGE',
        status: 'READY',
        fileName: 'a.png',
        objectKey: 'k',
        quarantineKey: null,
        entryName: null,
        sizeBytes: 12n,
        sha256: null,
        declaredMime: 'image/png',
        detectedMime: null,
        pipelineVersion: 1,
        businessKey: `upload:${assetId}`,
      },
      NOW,
    );
    const task = newTask(tenantId, { inputs: [{ assetId, role: 'REFERENCE_IMAGE' }] });
    expect(await tasks.insert(task, [statusChanged(task.id)], NOW)).toBe('CREATED');

    expect(await tasks.read(task.id)).toMatchObject({
      status: 'QUEUED',
      version: 4,
      priceMicros: 5_000_000n,
      scheduleAt: NOW,
      waitingSince: NOW,
      createdAt: NOW,
      deadlineAt: at(3600),
      finishedAt: null,
    });
    expect(await tasks.readRequest(task.id)).toEqual(task.request);
    expect(await bench().look('SELECT asset_id, position FROM generation_inputs')).toEqual([
      { asset_id: assetId, position: 0 },
    ]);
    const history = await bench().look(
      'SELECT type, from_status, to_status, task_version FROM task_state_events ORDER BY event_id',
    );
    expect(history.map((event) => Object.values(event))).toEqual([
      ['created', null, 'CREATED', 1],
      ['validation_started', 'CREATED', 'VALIDATING', 2],
      ['validation_passed', 'VALIDATING', 'QUOTA_RESERVED', 3],
      ['queued', 'QUOTA_RESERVED', 'QUEUED', 4],
    ]);
    const sent = await bench().look(
      'SELECT aggregate_version, status, causation_id, trace_id FROM outbox_events',
    );
    expect(sent).toEqual([
      {
        aggregate_version: 4,
        status: 'PENDING',
        causation_id: task.path[3]?.eventId,
        trace_id: 'trace-1',
      },
    ]);
    expect(bench().rings).toEqual(['outbox']);
  });

  it('answers EXISTS for a taken key and writes nothing', async () => {
    const tenantId = await addTenant(bench());
    const first = await addTask(bench(), tenantId);
    const again = newTask(tenantId, { clientIdempotencyKey: first.clientIdempotencyKey });
    const { tasks } = bench().stores;
    expect(await tasks.insert(again, [statusChanged(again.id)], NOW)).toBe('EXISTS');
    expect(bench().rings).toEqual([]);
    const counts = await bench().look(
      `SELECT (SELECT count(*)::int FROM generation_tasks) AS tasks,
         (SELECT count(*)::int FROM generation_requests) AS requests,
         (SELECT count(*)::int FROM task_state_events) AS events,
         (SELECT count(*)::int FROM outbox_events) AS messages`,
    );
    expect(counts).toEqual([{ tasks: 1, requests: 1, events: 4, messages: 0 }]);
    expect(await tasks.findByIdempotencyKey(tenantId, first.clientIdempotencyKey)).toMatchObject({
      id: first.id,
    });
  });

  it('lets another tenant use the same key', async () => {
    const first = await addTask(bench(), await addTenant(bench()));
    const other = newTask(await addTenant(bench()), {
      clientIdempotencyKey: first.clientIdempotencyKey,
    });
    expect(await bench().stores.tasks.insert(other, [], NOW)).toBe('CREATED');
  });

  it('does not schedule what waits for review', async () => {
    const tenantId = await addTenant(bench());
    const task = newTask(tenantId);
    const path = task.path.slice(0, 2);
    await bench().stores.tasks.insert({ ...task, path }, [], NOW);
    const read = await mustRead(bench().stores, task.id);
    expect(read).toMatchObject({ status: 'VALIDATING', version: 2, scheduleAt: null });
    expect(await bench().stores.tasks.listCandidates(at(10), 10)).toEqual([]);
  });

  it('refuses a path that the transition table does not know', async () => {
    const task = newTask(await addTenant(bench()));
    const path = [task.path[0], task.path[3]].flatMap((step) => (step ? [step] : []));
    await expect(bench().stores.tasks.insert({ ...task, path }, [], NOW)).rejects.toThrow(
      'cannot go CREATED → QUEUED',
    );
  });

  it('of 16 first requests at once with one key creates one', async () => {
    const tenantId = await addTenant(bench());
    const outcomes = await Promise.all(
      Array.from({ length: 16 }, () =>
        bench().uow.transact((tx) =>
          tx.tasks.insert(newTask(tenantId, { clientIdempotencyKey: 'one' }), [], NOW),
        ),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === 'CREATED')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'EXISTS')).toHaveLength(15);
  });
});

describe('moving a generation', () => {
  it('changes the named columns only, raises the version and records the step', async () => {
    const task = await addTask(bench(), await addTenant(bench()));
    const message = statusChanged(task.id, at(30));
    const eventId = newId();
    const moved = await bench().stores.tasks.move({
      task,
      step: CLAIM,
      patch: { currentAttemptNo: 1, scheduleAt: null, settledMicros: 12n, startedAt: at(1) },
      eventId,
      origin: { ...ORIGIN, source: 'scheduler', sourceEventId: 'evt', payload: { a: 1 } },
      messages: [message],
      now: at(1),
    });
    expect(moved).toEqual({
      ...task,
      status: 'DISPATCHING',
      version: 5,
      currentAttemptNo: 1,
      scheduleAt: null,
      settledMicros: 12n,
      startedAt: at(1),
      updatedAt: at(1),
    });
    expect(await mustRead(bench().stores, task.id)).toEqual(moved);
    const events = await bench().look(
      `SELECT source, source_event_id, type, from_status, to_status, task_version, observed_at, payload
       FROM task_state_events WHERE event_id = $1`,
      [eventId],
    );
    expect(events).toEqual([
      {
        source: 'scheduler',
        source_event_id: 'evt',
        type: 'dispatch_claimed',
        from_status: 'QUEUED',
        to_status: 'DISPATCHING',
        task_version: 5,
        observed_at: at(1),
        payload: { a: 1 },
      },
    ]);
    const sent = await bench().look('SELECT id, available_at, causation_id FROM outbox_events');
    expect(sent).toEqual([{ id: message.eventId, available_at: at(30), causation_id: eventId }]);
    expect(bench().rings).toEqual(['outbox']);
  });

  it('refuses to change what a transition may not change', async () => {
    const task = await addTask(bench(), await addTenant(bench()));
    const patch = { priority: 9 } as never;
    await expect(moveTask(bench().stores, task, CLAIM, patch)).rejects.toThrow(
      'move-task does not change priority',
    );
  });

  it('does nothing when the version judged is not the version there', async () => {
    const task = await addTask(bench(), await addTenant(bench()));
    await moveTask(bench().stores, task, CLAIM, { scheduleAt: null });
    const answer = await bench().stores.tasks.move({
      task,
      step: CLAIM,
      patch: { scheduleAt: null },
      eventId: newId(),
      origin: ORIGIN,
      messages: [statusChanged(task.id)],
      now: NOW,
    });
    expect(answer).toBeNull();
    expect(bench().rings).toEqual([]);
    const [counts] = await bench().look(
      `SELECT (SELECT count(*)::int FROM task_state_events) AS events,
         (SELECT count(*)::int FROM outbox_events) AS messages`,
    );
    expect(counts).toEqual({ events: 5, messages: 0 });
  });

  it('does nothing when the status is right and the version is not', async () => {
    const { stores } = bench();
    let task = await addTask(bench(), await addTenant(bench()));
    task = await moveTask(stores, task, CLAIM, { scheduleAt: null });
    const again = { event: 'lease_lost', to: 'DISPATCHING' } as const;
    await moveTask(stores, task, again);
    await expect(moveTask(stores, task, again)).rejects.toThrow('The guard refused');
    expect(await mustRead(stores, task.id)).toMatchObject({ version: task.version + 1 });
  });

  it('does nothing when the version is right and the status is not', async () => {
    const task = await addTask(bench(), await addTenant(bench()));
    const answer = await bench().stores.tasks.move({
      task: { ...task, status: 'RETRY_WAIT' },
      step: { event: 'retry_due', to: 'QUEUED' },
      patch: {},
      eventId: newId(),
      origin: ORIGIN,
      messages: [],
      now: NOW,
    });
    expect(answer).toBeNull();
  });

  it('is decided once when eight try at once', async () => {
    const task = await addTask(bench(), await addTenant(bench()));
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        bench().stores.tasks.move({
          task,
          step: CLAIM,
          patch: { scheduleAt: null },
          eventId: newId(),
          origin: ORIGIN,
          messages: [],
          now: NOW,
        }),
      ),
    );
    expect(answers.filter((answer) => answer !== null)).toHaveLength(1);
  });

  it('is refused by the database for a pair outside the table, whatever the code says', async () => {
    const task = await addTask(bench(), await addTenant(bench()));
    const step = { event: 'playable_asset_ready', to: 'SUCCEEDED' } as const;
    await expect(
      moveTask(bench().stores, task, step, { finishedAt: NOW, scheduleAt: null }),
    ).rejects.toMatchObject({ code: '23514', constraint: 'task_status_pairs' });
    expect(await mustRead(bench().stores, task.id)).toEqual(task);
  });

  it('keeps a payload over 4 kB as its beginning', async () => {
    const task = await addTask(bench(), await addTenant(bench()));
    await bench().stores.tasks.recordIgnored({
      task,
      type: 'provider_running',
      reason: 'TERMINAL',
      eventId: newId(),
      origin: { ...ORIGIN, payload: { text: 'ü'.repeat(5000) } },
      now: NOW,
    });
    const [row] = await bench().look(
      `SELECT octet_length(payload::text) AS bytes, payload->'cut' AS cut, payload->'sizeBytes' AS size, ignored_reason
       FROM task_state_events WHERE ignored_reason IS NOT NULL`,
    );
    expect(row).toMatchObject({ cut: true, size: 10_011, ignored_reason: 'TERMINAL' });
    expect(Number(row?.['bytes'])).toBeLessThanOrEqual(4096);
  });

  it('updates the task row in place (HOT), except where it enters or leaves an index', async () => {
    const tenantId = await addTenant(bench());
    for (let i = 0; i < 20; i += 1) await walkToTheEnd(await addTask(bench(), tenantId));
    // Statistics are sent when a connection ends.
    await bench().pool.end();
    const hot = await eventually('the statistics of the ended connections', async () => {
      const [row] = await bench().look(
        `SELECT n_tup_upd::int AS updates, n_tup_hot_upd::int AS hot FROM pg_stat_user_tables
         WHERE relname = 'generation_tasks'`,
      );
      const seen = row as { updates: number; hot: number };
      return seen.updates === 20 * 12 ? seen.hot : null;
    });
    // Leaving the queue and ending are the two that may not be HOT.
    expect(hot / (20 * 12)).toBeGreaterThanOrEqual(10 / 12 - 0.05);
  });
});

const walkToTheEnd = async (task: Awaited<ReturnType<typeof addTask>>): Promise<void> => {
  const { stores } = bench();
  let moved = await moveTask(stores, task, CLAIM, { scheduleAt: null, currentAttemptNo: 1 });
  moved = await moveTask(stores, moved, { event: 'provider_accepted', to: 'SUBMITTED' });
  moved = await moveTask(stores, moved, { event: 'provider_running', to: 'RUNNING' });
  moved = await moveTask(stores, moved, { event: 'provider_succeeded', to: 'OUTPUT_FETCHING' });
  for (let i = 0; i < 3; i += 1) {
    moved = await moveTask(
      stores,
      moved,
      { event: 'step_retryable', to: 'OUTPUT_FETCHING' },
      { fetchTries: i + 1, nextRetryAt: at(i) },
    );
  }
  moved = await moveTask(stores, moved, { event: 'output_persisted', to: 'POST_PROCESSING' });
  for (let i = 0; i < 3; i += 1) {
    moved = await moveTask(
      stores,
      moved,
      { event: 'step_retryable', to: 'POST_PROCESSING' },
      { mediaTries: i + 1 },
    );
  }
  await moveTask(
    stores,
    moved,
    { event: 'playable_asset_ready', to: 'SUCCEEDED' },
    { finishedAt: NOW, progress: 100 },
  );
};

describe('what is only shown or only waits', () => {
  it('progress rises, never falls, and leaves the version alone', async () => {
    const task = await addTask(bench(), await addTenant(bench()));
    const { tasks } = bench().stores;
    expect(await tasks.raiseProgress(task.id, 40)).toBe(true);
    expect(await tasks.raiseProgress(task.id, 40)).toBe(false);
    expect(await tasks.raiseProgress(task.id, 10)).toBe(false);
    expect(await mustRead(bench().stores, task.id)).toMatchObject({
      progress: 40,
      version: task.version,
    });
  });

  it('a postponed generation is no candidate until its time, and says why it waits', async () => {
    const task = await addTask(bench(), await addTenant(bench()));
    const { tasks } = bench().stores;
    await tasks.postpone(task.id, 'CIRCUIT_OPEN', at(60));
    expect(await tasks.listCandidates(at(59), 10)).toEqual([]);
    expect(await tasks.countWaiting(at(59))).toBe(0);
    expect(await tasks.listCandidates(at(60), 10)).toHaveLength(1);
    expect(await tasks.countWaiting(at(60))).toBe(1);
    expect(await mustRead(bench().stores, task.id)).toMatchObject({
      waitReason: 'CIRCUIT_OPEN',
      version: task.version,
    });
  });

  it('a generation that was dispatched meanwhile is not put back', async () => {
    const task = await addTask(bench(), await addTenant(bench()));
    await moveTask(bench().stores, task, CLAIM, { scheduleAt: null });
    await bench().stores.tasks.postpone(task.id, 'NO_SLOT', at(60));
    expect(await mustRead(bench().stores, task.id)).toMatchObject({
      scheduleAt: null,
      waitReason: null,
    });
  });
});

describe('lists for recovery', () => {
  it('overdue: living ones past their deadline; after a cancel only the recovery deadline counts', async () => {
    const tenantId = await addTenant(bench());
    const { stores } = bench();
    const queued = await addTask(bench(), tenantId, { deadlineAt: at(10) });
    const later = await addTask(bench(), tenantId, { deadlineAt: at(500) });
    const fetching = await addTask(bench(), tenantId, { deadlineAt: at(10) });
    let moved = await moveTask(stores, fetching, CLAIM, { scheduleAt: null });
    moved = await moveTask(stores, moved, { event: 'provider_accepted', to: 'SUBMITTED' });
    await moveTask(stores, moved, { event: 'provider_succeeded', to: 'OUTPUT_FETCHING' });
    const canceling = await addTask(bench(), tenantId, { deadlineAt: at(10) });
    moved = await moveTask(stores, canceling, CLAIM, { scheduleAt: null });
    await moveTask(
      stores,
      moved,
      { event: 'deadline_passed', to: 'CANCEL_REQUESTED' },
      { recoveryDeadlineAt: at(100), cancelReason: 'DEADLINE', cancelRequestedAt: at(10) },
    );
    expect(await stores.tasks.listOverdue(at(9), 10)).toEqual([]);
    expect(await stores.tasks.listOverdue(at(10), 10)).toEqual([queued.id]);
    expect((await stores.tasks.listOverdue(at(100), 10)).sort()).toEqual(
      [queued.id, canceling.id].sort(),
    );
    expect(await stores.tasks.listOverdue(at(500), 10)).toContain(later.id);
  });

  it('stuck: untouched ones that a message must carry on, not those that wait or need an operator', async () => {
    const tenantId = await addTenant(bench());
    const { stores } = bench();
    await addTask(bench(), tenantId);
    const dispatching = await moveTask(stores, await addTask(bench(), tenantId), CLAIM, {
      scheduleAt: null,
    });
    let moved = await moveTask(stores, await addTask(bench(), tenantId), CLAIM, {
      scheduleAt: null,
    });
    moved = await moveTask(stores, moved, { event: 'provider_accepted', to: 'SUBMITTED' });
    moved = await moveTask(stores, moved, { event: 'provider_succeeded', to: 'OUTPUT_FETCHING' });
    expect(await stores.tasks.listStuck(NOW, NOW, 10)).toEqual([]);
    expect((await stores.tasks.listStuck(at(1), at(1), 10)).sort()).toEqual(
      [dispatching.id, moved.id].sort(),
    );
    moved = await moveTask(
      stores,
      moved,
      { event: 'step_retryable', to: 'OUTPUT_FETCHING' },
      { nextRetryAt: at(50) },
    );
    expect(await stores.tasks.listStuck(at(1), at(1), 10)).toEqual([dispatching.id]);
    expect(await stores.tasks.listStuck(at(51), at(51), 10)).toHaveLength(2);
    await moveTask(
      stores,
      moved,
      { event: 'object_conflict', to: 'OUTPUT_FETCHING' },
      { needsOperator: true, nextRetryAt: null },
    );
    expect(await stores.tasks.listStuck(at(51), at(51), 10)).toEqual([dispatching.id]);
  });
});
