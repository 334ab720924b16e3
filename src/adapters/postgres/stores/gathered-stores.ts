import type { Attempt } from '../../../domain/attempt/attempt';
import type { GenerationRequest, Task } from '../../../domain/generation/task';
import type { ConsumerGroup } from '../../../ports/messages';
import type { Stores } from '../../../ports/unit-of-work';
import type { Database } from '../database';
import { gather, gatherById } from '../gather';
import { run } from '../run-statement';

interface Entry {
  readonly group: ConsumerGroup;
  readonly eventId: string;
  readonly now: Date;
}

interface Hold {
  readonly attemptId: string;
  readonly until: Date;
  readonly now: Date;
}

/**
 * The same stores, for use outside a transaction, where each statement is a commit of its own: what many workers ask at the
 * same moment is asked in one statement.
 */
export const gatherReads = (db: Database, stores: Stores): Stores => {
  const readTask = gatherById<Task>((taskIds) => run(db, 'read-tasks', { taskIds }));
  const readRequest = gatherById<{ id: string; request: GenerationRequest }>(async (taskIds) =>
    (await run<RequestRow>(db, 'read-requests', { taskIds })).map((row) => ({
      id: row.taskId,
      request: { ...row.body, prompt: row.prompt },
    })),
  );
  const readAttempt = gatherById<Attempt>((attemptId) => run(db, 'read-attempts', { attemptId }));
  const readAsset = gatherById(stores.assets.readMany);
  const countWaiting = gather<Date, number>(async (instants) => {
    const latest = new Date(Math.max(...instants.map((each) => each.getTime())));
    const waiting = await stores.tasks.countWaiting(latest);
    return instants.map(() => waiting);
  });
  const holdAll = gather<Hold, null>(async (holds) => {
    await run(db, 'hold-attempts-if-shorter', {
      attemptId: holds.map(({ attemptId }) => attemptId),
      until: holds.map(({ until }) => until),
      now: holds.map(({ now }) => now),
    });
    return holds.map(() => null);
  });
  const enterAll = gather<Entry, boolean>((entries) => enterInbox(db, entries));
  return {
    ...stores,
    tasks: {
      ...stores.tasks,
      read: readTask,
      countWaiting,
      readRequest: async (taskId) => (await readRequest(taskId))?.request ?? null,
    },
    attempts: {
      ...stores.attempts,
      read: readAttempt,
      hold: async (attemptId, until, now) => {
        await holdAll({ attemptId, until, now });
      },
    },
    assets: { ...stores.assets, read: readAsset },
    inbox: { ...stores.inbox, enter: (group, eventId, now) => enterAll({ group, eventId, now }) },
  };
};

interface RequestRow {
  readonly taskId: string;
  readonly prompt: string;
  readonly body: Omit<GenerationRequest, 'prompt'>;
}

/** Of two equal entries in one batch the first is the first. */
const enterInbox = async (db: Database, entries: readonly Entry[]): Promise<boolean[]> => {
  const rows = await run<{ consumerGroup: string; eventId: string }>(db, 'enter-inbox-many', {
    consumerGroup: entries.map(({ group }) => group),
    eventId: entries.map(({ eventId }) => eventId),
    now: entries.map(({ now }) => now),
  });
  const entered = new Set(rows.map(keyOf));
  return entries.map(({ group, eventId }) =>
    entered.delete(keyOf({ consumerGroup: group, eventId })),
  );
};

const keyOf = (entry: { readonly consumerGroup: string; readonly eventId: string }): string =>
  `${entry.consumerGroup} ${entry.eventId}`;
