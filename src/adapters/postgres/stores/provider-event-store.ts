import type { JobObservation } from '../../../domain/provider/vocabulary';
import type { ProviderEvent, ProviderEventStore } from '../../../ports/stores/provider-event-store';
import type { Database } from '../database';
import { toJson } from '../json-parameters';
import { run, runForOne, runForOnly } from '../run-statement';

export const createProviderEventStore = (db: Database): ProviderEventStore => ({
  insert: async (event, expiresAt) => {
    const { isNew } = await runForOnly<{ isNew: boolean }>(db, 'insert-provider-event', {
      ...event,
      status: event.observation.status,
      rawStatus: event.observation.rawStatus,
      providerUpdatedAt: event.observation.providerUpdatedAt,
      observation: toJson(event.observation),
      expiresAt,
    });
    return isNew ? 'CREATED' : 'DUPLICATE';
  },
  recordRefusal: async (refusal) => {
    await run(db, 'record-callback-refusal', refusal);
  },
  read: async (id) => {
    const row = await runForOne<EventRow>(db, 'read-provider-event', { id });
    return row === null ? null : toEvent(row);
  },
  lock: async (id) => {
    const row = await runForOne<EventRow>(db, 'lock-provider-event', { id });
    return row === null ? null : toEvent(row);
  },
  markMatched: async (id, attemptId, outcome, now) => {
    await run(db, 'match-provider-event', { id, attemptId, outcome, now });
  },
  listOrphansOf: async (providerId, jobId, requestKey) =>
    (await run<EventRow>(db, 'list-orphans-of-attempt', { providerId, jobId, requestKey })).map(
      toEvent,
    ),
  listMatchableOrphans: async (limit) =>
    (await run<EventRow>(db, 'list-matchable-orphans', { limit })).map(toEvent),
  countOrphans: async () =>
    (await runForOnly<{ orphans: number }>(db, 'count-orphans', {})).orphans,
});

/** In jsonb a time is ISO text. */
type StoredObservation = Omit<JobObservation, 'providerUpdatedAt' | 'outputs'> & {
  readonly providerUpdatedAt: string | null;
  readonly outputs: readonly { index: number; url: string; expiresAt: string | null }[];
};
type EventRow = Omit<ProviderEvent, 'observation'> & { readonly observation: StoredObservation };

const toDate = (text: string | null): Date | null => (text === null ? null : new Date(text));

const toEvent = (row: EventRow): ProviderEvent => ({
  id: row.id,
  providerId: row.providerId,
  accountId: row.accountId,
  source: row.source,
  sourceEventId: row.sourceEventId,
  jobId: row.jobId,
  requestKey: row.requestKey,
  observation: {
    ...row.observation,
    providerUpdatedAt: toDate(row.observation.providerUpdatedAt),
    outputs: row.observation.outputs.map((output) => ({
      ...output,
      expiresAt: toDate(output.expiresAt),
    })),
  },
  rawDigest: row.rawDigest,
  receivedAt: row.receivedAt,
  attemptId: row.attemptId,
  matchedAt: row.matchedAt,
  outcome: row.outcome,
});
