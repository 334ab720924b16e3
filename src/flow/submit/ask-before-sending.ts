import type { Attempt } from '../../domain/attempt/attempt';
import type { Task } from '../../domain/generation/task';
import type { SubmitOutcome } from '../../domain/provider/vocabulary';
import type { ProviderAccount, ProviderGateway } from '../../ports/provider-gateway';
import type { FlowContext } from '../flow-context';
import { recordObservation } from '../observe/record-observation';

/** What this database may have forgotten of a generation that is older than its last restore. */
export interface Forgotten {
  /** Nothing of the generation was sent before. */
  readonly since: Date;
  /** What is forgotten was sent before. */
  readonly restoredAt: Date;
}

export const forgottenOf = (
  task: Pick<Task, 'createdAt'>,
  restoredAt: Date | null,
): Forgotten | null =>
  restoredAt === null || task.createdAt >= restoredAt
    ? null
    : { since: task.createdAt, restoredAt };

/**
 * A restored database may have forgotten that this very submit was sent. Its key is the same, so the provider can be asked.
 * Null: it has nothing, and what was sent before the restore has had its time to show up; only then another is sent. Else the
 * submit counts as one without an answer, and is resolved as any such.
 */
export const askBeforeSending = async (
  context: FlowContext,
  gateway: Pick<ProviderGateway, 'reconcile'>,
  account: ProviderAccount,
  attempt: Attempt,
  { since, restoredAt }: Forgotten,
): Promise<SubmitOutcome | null> => {
  const found = await gateway.reconcile(account, {
    requestKey: attempt.requestKey,
    callbackUrl: attempt.callbackUrl,
    submittedAt: restoredAt,
    sentSince: since,
  });
  if (found.kind === 'FOUND') {
    await recordObservation(context, {
      providerId: attempt.providerId,
      accountId: attempt.accountId,
      source: 'reconcile',
      sourceEventId: null,
      requestKey: attempt.requestKey,
      observation: found.observation,
    });
  }
  if (found.kind === 'ABSENT' && (await isSettled(context, attempt, restoredAt))) return null;
  return {
    kind: 'UNKNOWN',
    phase: 'BEFORE_RESTORE',
    digest: `not sent: the database was restored at ${restoredAt.toISOString()}, and the provider said ${found.kind}`,
  };
};

const isSettled = async (
  context: FlowContext,
  attempt: Attempt,
  restoredAt: Date,
): Promise<boolean> => {
  const provider = await context.uow.stores.catalog.readProvider(attempt.providerId);
  if (provider === null) throw new Error(`Provider ${attempt.providerId} is not there`);
  const sinceMs = context.clock.now().getTime() - restoredAt.getTime();
  return sinceMs >= provider.createSettlesMs + provider.absenceGraceMs;
};
