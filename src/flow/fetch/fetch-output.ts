import type { Attempt, StoredOutput } from '../../domain/attempt/attempt';
import type { TaskEvent } from '../../domain/generation/decision';
import type { OutputFailureCode } from '../../domain/generation/failures';
import type { Task } from '../../domain/generation/task';
import { PIPELINE_VERSION, rawOutputKey } from '../../domain/output/object-keys';
import { OUTPUT_POLICIES } from '../../domain/provider/failure-policy';
import { judgeRetry } from '../../domain/scheduling/retry-budget';
import { crashpoint } from '../../ports/crash-points';
import { payloadOf } from '../../ports/messages';
import {
  ObjectMismatchError,
  ObjectTooLargeError,
  type ObjectHead,
  type ObjectStore,
  type ReceivedBytes,
  type StandingObject,
} from '../../ports/object-store';
import {
  OutputInterruptedError,
  OutputTooLargeError,
  type OutputSource,
} from '../../ports/output-source';
import type { Stores } from '../../ports/unit-of-work';
import { consumeOnce, type Consumer } from '../consume';
import type { FlowContext } from '../flow-context';
import type { ProviderDeps } from '../submit/submit-attempt';
import { applyEvent } from '../transition/apply-event';
import { keepStepHeld } from '../transition/hold-step';
import { streamOutput } from './stream-output';

export interface FetchDeps extends Pick<ProviderDeps, 'gatewayOf' | 'accountOf'> {
  readonly source: OutputSource;
  readonly objects: ObjectStore;
}

/** A URL that ends sooner than this is renewed before it is used. */
const URL_MARGIN_MS = 5_000;

type Fetched =
  | {
      readonly kind: 'STORED';
      readonly key: string;
      readonly sizeBytes: number;
      readonly sha256: string;
    }
  | {
      readonly kind: 'FAILED';
      readonly code: OutputFailureCode;
      readonly retryAfterMs: number | null;
      /** What came and what was in its way: which of them is right only a person can tell. */
      readonly conflict?: { readonly fetched: ReceivedBytes; readonly standing: StandingObject };
    };

/**
 * Brings a finished output into our own storage: streamed under the fetch guard, with its digest, to a key that is the same on
 * every repeat. The attempt notes what it is about to put there, so that its own work is known again without a second download;
 * anything else at the key is compared with what the provider serves, and what differs is neither overwritten nor delivered. The
 * generation is never run again for a download's sake: the provider is asked for a fresh URL first.
 */
export const createFetchConsumer =
  (context: FlowContext, deps: FetchDeps): Consumer =>
  async (envelope, signal) => {
    const { taskId, attemptId } = payloadOf(envelope, 'output.fetch.requested');
    const { tasks, attempts } = context.uow.stores;
    const [task, attempt] = await Promise.all([tasks.read(taskId), attempts.read(attemptId)]);
    if (task === null || attempt === null) throw new Error(`Attempt ${attemptId} is not there`);
    const current =
      task.status === 'OUTPUT_FETCHING' && attempt.attemptNo === task.currentAttemptNo;
    const fetched = current ? await fetchOne(context, deps, task, attempt, signal) : null;
    const { consumed } = await consumeOnce(context, 'output-fetch', envelope, async (tx) => {
      if (fetched !== null) await recordFetched(context, tx, taskId, attemptId, fetched);
    });
    crashpoint('fetch.after_db_before_ack');
    return consumed;
  };

const fetchOne = async (
  context: FlowContext,
  deps: FetchDeps,
  task: Task,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<Fetched> => {
  const index = attempt.outputs?.[0]?.index ?? 0;
  const key = rawOutputKey(task.tenantId, task.id, attempt.id, index, task.rawGeneration);
  const stored = await deps.objects.head(key);
  if (stored !== null && isOwnWrite(attempt, stored)) {
    // An earlier run stored it and died before its row: writes are atomic, so it is whole.
    return { kind: 'STORED', key, sizeBytes: stored.sizeBytes, sha256: stored.sha256 };
  }
  const known = attempt.outputs?.[0] ?? null;
  let output: Refreshed =
    known === null || endsSoon(context, known)
      ? await refreshUrl(context, deps, attempt)
      : { kind: 'OUTPUT', output: known };
  for (let refreshed = false; output.kind === 'OUTPUT'; refreshed = true) {
    const result = await download(context, deps, attempt, output.output.url, key, signal);
    if (result !== 'GONE') return result;
    if (refreshed) break;
    output = await refreshUrl(context, deps, attempt);
  }
  return output.kind === 'NONE'
    ? failed('OUTPUT_URL_UNAVAILABLE', output.retryAfterMs)
    : failed('OUTPUT_GONE');
};

/** A key says nothing of who wrote there: only what was noted before the write does. */
const isOwnWrite = ({ rawWrite }: Attempt, stored: ObjectHead): boolean =>
  rawWrite !== null &&
  rawWrite.key === stored.key &&
  rawWrite.sizeBytes === stored.sizeBytes &&
  rawWrite.sha256 === stored.sha256;

const endsSoon = (context: FlowContext, output: StoredOutput): boolean =>
  output.expiresAt !== null &&
  new Date(output.expiresAt).getTime() - context.clock.now().getTime() < URL_MARGIN_MS;

const failed = (
  code: OutputFailureCode,
  retryAfterMs: number | null = null,
): Extract<Fetched, { kind: 'FAILED' }> => ({
  kind: 'FAILED',
  code,
  retryAfterMs,
});

type Refreshed =
  | { readonly kind: 'OUTPUT'; readonly output: StoredOutput }
  /** The provider gives none now; it may have said when to come back. */
  | { readonly kind: 'NONE'; readonly retryAfterMs: number | null };

/** Asks the provider for the job again: most give a fresh URL each time. */
const refreshUrl = async (
  context: FlowContext,
  deps: FetchDeps,
  attempt: Attempt,
): Promise<Refreshed> => {
  if (attempt.jobId === null) return { kind: 'NONE', retryAfterMs: null };
  const account = await deps.accountOf(attempt.accountId);
  const outcome = await deps.gatewayOf(attempt.providerId).query(account, attempt.jobId);
  if (outcome.kind !== 'FOUND') {
    const retryAfterMs = outcome.kind === 'UNAVAILABLE' ? outcome.retryAfterMs : null;
    return { kind: 'NONE', retryAfterMs };
  }
  const outputs = outcome.observation.outputs.map((each) => ({
    ...each,
    expiresAt: each.expiresAt?.toISOString() ?? null,
  }));
  const first = outputs[0];
  if (first === undefined) return { kind: 'NONE', retryAfterMs: null };
  const now = context.clock.now();
  await context.uow.transact(async (tx) => {
    const fresh = await tx.attempts.lock(attempt.id);
    if (fresh === null) return;
    await tx.attempts.patch(
      fresh,
      null,
      { outputs, outputUrlExpiresAt: first.expiresAt === null ? null : new Date(first.expiresAt) },
      now,
    );
  });
  crashpoint('fetch.after_refresh_before_download');
  return { kind: 'OUTPUT', output: first };
};

const download = async (
  context: FlowContext,
  deps: FetchDeps,
  attempt: Attempt,
  url: string,
  key: string,
  signal: AbortSignal,
): Promise<Fetched | 'GONE'> => {
  const provider = await context.uow.stores.catalog.readProvider(attempt.providerId);
  const options = {
    allowedHosts: provider?.outputHosts ?? [],
    sizeBytesMax: context.settings.outputBytesMax,
    signal,
  };
  const opening = await deps.source.open(url, options);
  if (opening.kind === 'GONE') return 'GONE';
  if (opening.kind === 'REFUSED') return failed(`OUTPUT_${opening.reason}`);
  if (opening.kind === 'UNAVAILABLE') {
    return failed('OUTPUT_UNAVAILABLE', opening.retryAfterMs);
  }
  crashpoint('fetch.after_download_before_put');
  try {
    const put = await deps.objects.putStream(
      key,
      streamOutput(deps.source, url, opening, options, keepStepHeld(context, attempt.id)),
      {
        contentType: 'video/mp4',
        sizeBytesMax: context.settings.outputBytesMax,
        ...(opening.sizeBytes === null ? {} : { expected: { sizeBytes: opening.sizeBytes } }),
        onReceived: async (received) => {
          const { attempts } = context.uow.stores;
          await attempts.noteRawWrite(attempt.id, { key, ...received }, context.clock.now());
          crashpoint('fetch.after_digest_before_publish');
        },
        signal,
      },
    );
    crashpoint('fetch.after_put_before_db');
    const { sizeBytes, sha256 } = put;
    if (put.outcome !== 'conflict') return { kind: 'STORED', key, sizeBytes, sha256 };
    const conflict = { fetched: { sizeBytes, sha256 }, standing: put.standing };
    return { ...failed('OBJECT_CONFLICT'), conflict };
  } catch (error) {
    if (error instanceof OutputTooLargeError || error instanceof ObjectTooLargeError) {
      return failed('OUTPUT_TOO_LARGE');
    }
    if (error instanceof OutputInterruptedError || error instanceof ObjectMismatchError) {
      return failed('OUTPUT_INTERRUPTED');
    }
    throw error;
  }
};

const recordFetched = async (
  context: FlowContext,
  tx: Stores,
  taskId: string,
  attemptId: string,
  fetched: Fetched,
): Promise<void> => {
  const [task, attempt] = await Promise.all([tx.tasks.lock(taskId), tx.attempts.lock(attemptId)]);
  if (task === null || attempt === null || task.status !== 'OUTPUT_FETCHING') return;
  if (fetched.kind === 'STORED') {
    const rawAssetId = await recordRaw(context, tx, task, attempt, fetched);
    await applyEvent(context, tx, {
      task,
      attempt,
      event: { type: 'output_persisted' },
      origin: {
        source: 'worker',
        payload: { sizeBytes: fetched.sizeBytes, sha256: fetched.sha256 },
      },
      rawAssetId,
    });
    crashpoint('fetch.after_raw_before_commit');
    return;
  }
  const judged = judgeUnfetched(context, task, fetched);
  await applyEvent(context, tx, {
    task,
    attempt,
    event: judged.event,
    origin: { source: 'worker', payload: fetched.conflict ?? null },
    error: { class: 'OUTPUT_FETCH', code: fetched.code },
    retryAt: judged.retryAt,
    ...(fetched.conflict === undefined ? {} : { findingDetail: fetched.conflict }),
  });
};

const judgeUnfetched = (
  context: FlowContext,
  task: Task,
  fetched: Extract<Fetched, { kind: 'FAILED' }>,
): { event: TaskEvent; retryAt: Date | null } => {
  const policy = OUTPUT_POLICIES[fetched.code];
  if (policy === 'PERSON') return { event: { type: 'object_conflict' }, retryAt: null };
  if (policy === 'GIVE_UP') return { event: { type: 'output_unrecoverable' }, retryAt: null };
  const now = context.clock.now();
  const verdict = judgeRetry('fetch', {
    triesDone: task.fetchTries + 1,
    firstTryAt: task.stepStartedAt ?? now,
    now,
    random: context.random(),
    retryAfterMs: fetched.retryAfterMs,
  });
  return verdict.kind === 'RETRY'
    ? { event: { type: 'step_retryable' }, retryAt: verdict.at }
    : { event: { type: 'output_unrecoverable' }, retryAt: null };
};

const recordRaw = async (
  context: FlowContext,
  tx: Stores,
  task: Task,
  attempt: Attempt,
  fetched: Extract<Fetched, { kind: 'STORED' }>,
): Promise<string> => {
  const now = context.clock.now();
  const businessKey = `raw:${attempt.id}:0:${task.rawGeneration}`;
  const id = context.ids.next(now);
  const inserted = await tx.assets.insert(
    {
      id,
      tenantId: task.tenantId,
      projectId: task.projectId,
      taskId: task.id,
      attemptId: attempt.id,
      parentAssetId: null,
      kind: 'RAW_OUTPUT',
      status: 'PENDING',
      fileName: null,
      objectKey: fetched.key,
      quarantineKey: null,
      entryName: null,
      sizeBytes: BigInt(fetched.sizeBytes),
      sha256: fetched.sha256,
      declaredMime: null,
      detectedMime: null,
      pipelineVersion: PIPELINE_VERSION,
      businessKey,
    },
    now,
  );
  if (inserted === 'CREATED') return id;
  const existing = await tx.assets.findByBusinessKey(businessKey);
  if (existing === null) throw new Error(`Raw asset ${businessKey} cannot be read`);
  return existing.id;
};
