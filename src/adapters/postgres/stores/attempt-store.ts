import type { Attempt } from '../../../domain/attempt/attempt';
import { StaleWriteError, type AttemptStore } from '../../../ports/stores/attempt-store';
import type { Database } from '../database';
import { toJson, toRowPatch } from '../json-parameters';
import { run, runForOne, runForOnly } from '../run-statement';

/** The latest attempts that are looked at, and those of the account among them that count. */
const HELD_SCANNED = 1_000;
const HELD_COUNTED = 50;

export const createAttemptStore = (db: Database): AttemptStore => ({
  insert: async (attempt, now) => {
    const { id: attemptId, sent, ...facts } = attempt;
    const rows = await run(db, 'insert-attempt', { ...facts, attemptId, sent: toJson(sent), now });
    return rows.length > 0 ? 'CREATED' : 'EXISTS';
  },
  read: (attemptId) => runForOne<Attempt>(db, 'read-attempt', { attemptId }),
  lock: (attemptId) => runForOne<Attempt>(db, 'lock-attempt', { attemptId }),
  findByRequestKey: (providerId, requestKey) =>
    runForOne<Attempt>(db, 'find-attempt-by-request-key', { providerId, requestKey }),
  findByJob: (providerId, jobId) =>
    runForOne<Attempt>(db, 'find-attempt-by-job', { providerId, jobId }),
  listOfTask: (taskId) => run<Attempt>(db, 'list-attempts-of-task', { taskId }),
  patch: async (attempt, to, patch, now) => {
    const patched = await runForOne<Attempt>(db, 'patch-attempt', {
      attemptId: attempt.id,
      version: attempt.version,
      toStatus: to,
      patch: toRowPatch('patch-attempt', patch),
      now,
    });
    if (patched === null) throw new StaleWriteError(`Attempt ${attempt.id} moved meanwhile`);
    return patched;
  },
  hold: async (attemptId, until, now) => {
    await run(db, 'hold-attempt-if-shorter', { attemptId, until, now });
  },
  noteRawWrite: async (attemptId, write, now) => {
    await run(db, 'note-raw-write', { attemptId, rawWrite: toJson(write), now });
  },
  claimDuePolls: (now, until, limit) => run<Attempt>(db, 'claim-due-polls', { now, until, limit }),
  nextPollDueAt: async () => (await runForOnly<{ at: Date | null }>(db, 'next-poll-due-at', {})).at,
  listLeaseLost: (now, unleasedBefore, limit) =>
    run<Attempt>(db, 'list-lease-lost-attempts', { now, unleasedBefore, limit }),
  listUnknown: (limit) => run<Attempt>(db, 'list-unknown-attempts', { limit }),
  markCostBooked: async (attemptId, now) => {
    await run(db, 'mark-cost-booked', { attemptId, now });
  },
  meanHeldMs: async (accountId) =>
    (
      await runForOnly<{ heldMs: number | null }>(db, 'read-mean-held-of-account', {
        accountId,
        scanned: HELD_SCANNED,
        limit: HELD_COUNTED,
      })
    ).heldMs,
  listSlotHolders: () => run<Attempt>(db, 'list-slot-holders', {}),
  listEndedAmong: async (attemptIds) =>
    (await run<{ id: string }>(db, 'list-ended-attempts', { attemptIds })).map(({ id }) => id),
});
