import type { Attempt } from '../../domain/attempt/attempt';
import { isTerminal } from '../../domain/generation/statuses';
import type { Task } from '../../domain/generation/task';
import type { Asset } from '../../domain/output/asset';
import { RETRY_BUDGETS } from '../../domain/scheduling/retry-budget';
import type { Stores } from '../../ports/unit-of-work';
import type { FlowContext } from '../flow-context';
import { applyEvent } from '../transition/apply-event';

export interface Corruption {
  readonly detail: string;
  /** The digest of other bytes that stand where the fetched ones were stored. */
  readonly foundSha256?: string;
}

/** What cannot be made playable is fetched again, under the next generation of its key; what stands there stays for the audit. */
export const recordCorrupt = async (
  context: FlowContext,
  tx: Stores,
  task: Task,
  raw: Asset,
  { detail, foundSha256 }: Corruption,
): Promise<void> => {
  const now = context.clock.now();
  if (foundSha256 !== undefined) {
    await tx.findings.record({
      id: context.ids.next(now),
      kind: 'OBJECT_CONFLICT',
      subjectKind: 'asset',
      subjectId: raw.id,
      tenantId: raw.tenantId,
      detail: {
        taskId: task.id,
        status: task.status,
        fetched: { sizeBytes: Number(raw.sizeBytes), sha256: raw.sha256 },
        standing: { sha256: foundSha256 },
      },
      actionTaken: 'not used',
      now,
    });
  }
  if (isTerminal(task.status)) return;
  await tx.assets.patch(
    raw,
    'FAILED',
    { rejectionCode: 'CORRUPT_MEDIA', rejectionDetail: detail },
    now,
  );
  await applyEvent(context, tx, {
    task,
    attempt: await currentAttempt(tx, task),
    event: { type: 'raw_corrupt', mayRetry: task.fetchTries + 1 < RETRY_BUDGETS.fetch.triesMax },
    origin: { source: 'worker', payload: { detail, ...(foundSha256 && { foundSha256 }) } },
    error: { class: 'MEDIA', code: 'OUTPUT_CORRUPT' },
  });
};

export const currentAttempt = async (tx: Stores, task: Task): Promise<Attempt | null> =>
  (await tx.attempts.listOfTask(task.id)).find(
    (each) => each.attemptNo === task.currentAttemptNo,
  ) ?? null;
