import type {
  AuditStore,
  FindingStore,
  ModerationStore,
} from '../../../ports/stores/operations-store';
import type { Database } from '../database';
import { toJson } from '../json-parameters';
import { run } from '../run-statement';

export const createFindingStore = (db: Database): FindingStore => ({
  record: async (finding) => {
    await run(db, 'record-finding', {
      ...finding,
      detail: toJson(finding.detail),
      businessKey: `${finding.kind}:${finding.subjectKind}:${finding.subjectId}`,
    });
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
});
