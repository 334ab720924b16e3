import { isTerminal } from '../../domain/generation/statuses';
import type { Task } from '../../domain/generation/task';
import type { Asset } from '../../domain/output/asset';
import { judgeRetry } from '../../domain/scheduling/retry-budget';
import { crashpoint } from '../../ports/crash-points';
import type { MediaFacts, MediaLimits, MediaToolkit } from '../../ports/media-toolkit';
import { payloadOf } from '../../ports/messages';
import {
  ModerationUnavailableError,
  type Moderation,
  type ModerationVerdict,
} from '../../ports/moderation';
import type { ObjectStore } from '../../ports/object-store';
import type { Scratch } from '../../ports/scratch';
import type { Stores } from '../../ports/unit-of-work';
import { consumeOnce, type Consumer } from '../consume';
import type { FlowContext } from '../flow-context';
import { together } from '../together';
import { applyEvent } from '../transition/apply-event';
import { deriveAll, type DerivedSet } from './derive-media';
import { insertDerived } from './insert-derived';
import { currentAttempt, recordCorrupt, type Corruption } from './record-corrupt';

export interface MediaDeps {
  readonly toolkit: MediaToolkit;
  readonly objects: ObjectStore;
  readonly scratch: Scratch;
  readonly moderation: Moderation;
  readonly limits: MediaLimits;
}

type Processed =
  | ({ readonly kind: 'CORRUPT' } & Corruption)
  | {
      readonly kind: 'DERIVED';
      readonly facts: MediaFacts;
      readonly derived: DerivedSet;
      readonly verdict: ModerationVerdict;
    };

/**
 * Makes a fetched output playable. The proxy decides: with it the generation succeeds and is settled in the same
 * transaction; a missing derivative is made alone afterwards. Safe to run twice at once: keys and rows are the same.
 */
export const createMediaConsumer =
  (context: FlowContext, deps: MediaDeps): Consumer =>
  async (envelope, signal) => {
    const { taskId, rawAssetId } = payloadOf(envelope, 'media.process.requested');
    const { tasks, assets } = context.uow.stores;
    const [task, raw] = await Promise.all([tasks.read(taskId), assets.read(rawAssetId)]);
    if (task === null || raw === null) throw new Error(`Raw asset ${rawAssetId} is not there`);
    const wanted = isWanted(task, raw);
    const processed = wanted ? await process(context, deps, raw, signal) : null;
    crashpoint('media.after_put_before_db');
    const { consumed } = await consumeOnce(context, 'media', envelope, async (tx) => {
      if (processed !== null)
        await recordProcessed(context, deps, tx, taskId, rawAssetId, processed);
      crashpoint('finish.before_commit');
    });
    crashpoint('finish.after_commit_before_ack');
    return consumed;
  };

/** After the end only what is missing beside the proxy is made, and nothing for an output that was rejected. */
const isWanted = (task: Task, raw: Asset): boolean =>
  task.status === 'POST_PROCESSING' ||
  (task.status === 'SUCCEEDED' && (raw.status === 'READY' || raw.status === 'IN_REVIEW'));

const process = async (
  context: FlowContext,
  deps: MediaDeps,
  raw: Asset,
  signal: AbortSignal,
): Promise<Processed> =>
  deps.scratch.use(async (folder) => {
    const stored = await deps.objects.getStream(raw.objectKey);
    if (stored === null) return { kind: 'CORRUPT', detail: 'the raw object is gone' };
    const { path, sha256 } = await folder.save('raw', stored.body, context.settings.outputBytesMax);
    // What the store says of an object is a note beside it; what is made playable is what was fetched.
    if (sha256 !== raw.sha256) {
      return { kind: 'CORRUPT', detail: 'other bytes than were fetched', foundSha256: sha256 };
    }
    const probe = await deps.toolkit.probe(path, deps.limits);
    if (!probe.ok) return { kind: 'CORRUPT', detail: `${probe.refusal}: ${probe.detail}` };
    crashpoint('media.after_probe_before_derive');
    const verdict = await judgeOutput(context, deps, raw, path, probe.facts);
    const derived: DerivedSet =
      verdict.verdict === 'REJECT'
        ? { made: [], existing: [], failed: [] }
        : await deriveAll(context, deps, raw, { path, facts: probe.facts }, folder, signal);
    return { kind: 'DERIVED', facts: probe.facts, derived, verdict };
  });

const judgeOutput = async (
  context: FlowContext,
  deps: MediaDeps,
  raw: Asset,
  path: string,
  facts: MediaFacts,
): Promise<ModerationVerdict> => {
  try {
    return await deps.moderation.judgeMedia({
      subject: 'OUTPUT',
      path,
      mime: facts.mime,
      fileName: null,
      sha256: raw.sha256 ?? '',
    });
  } catch (error) {
    if (!(error instanceof ModerationUnavailableError)) throw error;
    context.log.warn('moderator is unavailable; the output waits for a person', {
      rawAssetId: raw.id,
    });
    return { verdict: 'REVIEW', reasonCode: 'MODERATOR_UNAVAILABLE' };
  }
};

const recordProcessed = async (
  context: FlowContext,
  deps: MediaDeps,
  tx: Stores,
  taskId: string,
  rawAssetId: string,
  processed: Processed,
): Promise<void> => {
  const [task, raw] = await Promise.all([tx.tasks.lock(taskId), tx.assets.lock(rawAssetId)]);
  if (task === null || raw === null) throw new Error(`Raw asset ${rawAssetId} is not there`);
  // A person may have rejected it while the tools were at work.
  if (!isWanted(task, raw)) return;
  if (processed.kind === 'CORRUPT') return recordCorrupt(context, tx, task, raw, processed);
  await recordVerdict(context, deps, tx, task, raw, processed.verdict);
  if (processed.verdict.verdict === 'REJECT') {
    return recordRejected(context, tx, task, raw, processed.verdict.reasonCode);
  }
  const reviewed = processed.verdict.verdict === 'REVIEW' && !isTerminal(task.status);
  const proxyId = await insertDerived(
    context,
    tx,
    processed.derived,
    reviewed || raw.status === 'IN_REVIEW',
  );
  if (isTerminal(task.status)) return requestMissing(context, tx, task, raw, processed.derived);
  if (proxyId === null) return recordWithoutProxy(context, tx, task, raw, processed.derived);
  await finish(context, tx, task, raw, processed, proxyId);
};

const recordVerdict = async (
  context: FlowContext,
  deps: MediaDeps,
  tx: Stores,
  task: Task,
  raw: Asset,
  verdict: ModerationVerdict,
): Promise<void> => {
  if (isTerminal(task.status)) return;
  const now = context.clock.now();
  await tx.moderation.record({
    id: context.ids.next(now),
    tenantId: task.tenantId,
    subjectKind: 'OUTPUT',
    subjectId: raw.id,
    verdict: verdict.verdict,
    reasonCode: verdict.verdict === 'APPROVE' ? null : verdict.reasonCode,
    rulesVersion: deps.moderation.rulesVersion,
    decidedBy: 'rules',
    now,
  });
};

const recordRejected = async (
  context: FlowContext,
  tx: Stores,
  task: Task,
  raw: Asset,
  reasonCode: string,
): Promise<void> => {
  if (isTerminal(task.status)) return;
  const now = context.clock.now();
  await tx.assets.patch(raw, 'REJECTED', { rejectionCode: reasonCode }, now);
  await moveDerivatives(tx, task, raw, 'REJECTED', now);
  await applyEvent(context, tx, {
    task,
    attempt: await currentAttempt(tx, task),
    event: { type: 'output_rejected' },
    origin: { source: 'worker', payload: { reasonCode } },
    error: { class: 'MODERATION', code: 'OUTPUT_REJECTED' },
  });
};

/** Derivatives of an earlier run, made before the output was judged, follow the verdict. */
const moveDerivatives = async (
  tx: Stores,
  task: Task,
  raw: Asset,
  to: 'REJECTED' | 'IN_REVIEW',
  now: Date,
): Promise<void> => {
  for (const each of await tx.assets.listOfTask(task.id)) {
    if (each.parentAssetId !== raw.id || each.status !== 'READY') continue;
    const locked = await tx.assets.lock(each.id);
    if (locked !== null) await tx.assets.patch(locked, to, {}, now);
  }
};

const recordWithoutProxy = async (
  context: FlowContext,
  tx: Stores,
  task: Task,
  raw: Asset,
  derived: DerivedSet,
): Promise<void> => {
  const now = context.clock.now();
  const verdict = judgeRetry('media', {
    triesDone: task.mediaTries + 1,
    firstTryAt: task.stepStartedAt ?? now,
    now,
    random: context.random(),
  });
  await applyEvent(context, tx, {
    task,
    attempt: await currentAttempt(tx, task),
    event: { type: verdict.kind === 'RETRY' ? 'step_retryable' : 'media_budget_exhausted' },
    origin: { source: 'worker', payload: { failed: derived.failed } },
    error: { class: 'MEDIA', code: 'MEDIA_PROCESSING_FAILED' },
    retryAt: verdict.kind === 'RETRY' ? verdict.at : null,
    rawAssetId: raw.id,
  });
};

const finish = async (
  context: FlowContext,
  tx: Stores,
  task: Task,
  raw: Asset,
  processed: Extract<Processed, { kind: 'DERIVED' }>,
  proxyId: string,
): Promise<void> => {
  const now = context.clock.now();
  const { facts } = processed;
  const reviewed = processed.verdict.verdict === 'REVIEW';
  const [finished, attempt] = await together(
    tx.assets.patch(
      raw,
      reviewed ? 'IN_REVIEW' : 'READY',
      {
        detectedMime: facts.mime,
        width: facts.width,
        height: facts.height,
        durationMs: facts.durationMs,
        frameRateNum: facts.frameRate?.numerator ?? null,
        frameRateDen: facts.frameRate?.denominator ?? null,
      },
      now,
    ),
    currentAttempt(tx, task),
  );
  if (reviewed) await moveDerivatives(tx, task, raw, 'IN_REVIEW', now);
  const applied = await applyEvent(context, tx, {
    task,
    attempt,
    event: { type: reviewed ? 'output_review_required' : 'playable_asset_ready' },
    origin: { source: 'worker', payload: { rawAssetId: raw.id } },
    taskPatch: { outputAssetId: proxyId },
  });
  if (applied.moved) await requestMissing(context, tx, applied.task, finished, processed.derived);
};

/**
 * What failed beside a playable proxy is tried again alone, later; the generation is a success already. Its tries are
 * counted on the raw asset, and end: what cannot be made then waits for a person.
 */
const requestMissing = async (
  context: FlowContext,
  tx: Stores,
  task: Task,
  raw: Asset,
  derived: DerivedSet,
): Promise<void> => {
  const now = context.clock.now();
  const triesBefore = Number(raw.facts?.['derivativeTries'] ?? 0);
  if (derived.failed.length === 0) {
    const done = { ...raw, facts: { ...raw.facts, derivativeTries: 0 } };
    if (triesBefore > 0) await noteNextTry(tx, done, null, now);
    return;
  }
  const triesDone = triesBefore + 1;
  const verdict = judgeRetry('media', {
    triesDone,
    firstTryAt: derivativesSince(raw) ?? task.finishedAt ?? now,
    now,
    random: context.random(),
  });
  const counted = { ...raw, facts: { ...raw.facts, derivativeTries: triesDone } };
  await noteNextTry(tx, counted, verdict.kind === 'RETRY' ? verdict.at : null, now);
  if (verdict.kind === 'SPENT') {
    await tx.findings.record({
      id: context.ids.next(now),
      kind: 'MEDIA_BUDGET_EXHAUSTED',
      subjectKind: 'asset',
      subjectId: raw.id,
      tenantId: raw.tenantId,
      detail: { taskId: task.id, failed: derived.failed },
      actionTaken: null,
      now,
    });
    return;
  }
  await tx.outbox.add(
    {
      type: 'generation',
      id: task.id,
      version: task.version,
      tenantId: task.tenantId,
      traceId: task.traceId,
      causationId: null,
    },
    [
      {
        eventId: context.ids.next(now),
        type: 'media.process.requested',
        payload: { taskId: task.id, rawAssetId: raw.id },
        availableAt: verdict.at,
      },
    ],
    now,
  );
};

/** When a person asked for what is missing, which begins its budget anew. */
const derivativesSince = ({ facts }: Asset): Date | null => {
  const since = facts?.['derivativesSince'];
  return typeof since === 'string' ? new Date(since) : null;
};

/** When the next try is due, for the reconciler: its message may be lost. Null: none is planned any more. */
const noteNextTry = async (
  tx: Stores,
  raw: Asset,
  retryAt: Date | null,
  now: Date,
): Promise<void> => {
  const facts = { ...raw.facts, retryAt: retryAt?.toISOString() ?? null };
  await tx.assets.patch(raw, raw.status, { facts }, now);
};
