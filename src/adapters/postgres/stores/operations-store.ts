import type {
  AuditStore,
  DatabaseLifeStore,
  Finding,
  FindingStore,
  ModerationStore,
} from '../../../ports/stores/operations-store';
import type { Database } from '../database';
import { toJson } from '../json-parameters';
import { run, runForOne, runForOnly } from '../run-statement';

export const createFindingStore = (db: Database): FindingStore => ({
  record: async (finding) => {
    await run(db, 'record-finding', {
      ...finding,
      detail: toJson(finding.detail),
      businessKey: `${finding.kind}:${finding.subjectKind}:${finding.subjectId}`,
    });
  },
  lock: (findingId) => runForOne<Finding>(db, 'lock-finding', { findingId }),
  resolve: async (findingId, by, resolution, now) =>
    (await run(db, 'resolve-finding-if-open', { findingId, by, resolution, now })).length > 0,
  resolveOf: async (kind, subjectIds, by, resolution, now) => {
    const closed = { kind, subjectIds, by, resolution, now };
    return (await run(db, 'resolve-findings-of-subject', closed)).length;
  },
});

export const createModerationStore = (db: Database): ModerationStore => ({
  record: async (decision) => {
    await run(db, 'record-moderation', decision);
  },
});

export const createAuditStore = (db: Database): AuditStore => ({
  record: async (entry) => {
    await run(db, 'record-audit', {
      ...entry,
      before: toJson(entry.before),
      after: toJson(entry.after),
    });
  },
  wasDone: async (subjectKind, subjectId, actions) =>
    (await run(db, 'find-accepted-action', { subjectKind, subjectId, actions })).length > 0,
});

export const createDatabaseLifeStore = (db: Database): DatabaseLifeStore => ({
  restoredAt: async (now) =>
    (await runForOnly<{ restoredAt: Date | null }>(db, 'note-database-life', { now })).restoredAt,
  declareRestored: async (declaredBy, now) => {
    // So that there is a life to follow.
    await run(db, 'note-database-life', { now });
    await run(db, 'declare-database-life', { declaredBy, now });
  },
});
